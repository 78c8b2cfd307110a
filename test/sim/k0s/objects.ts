import type { SimHost } from "../model/host";
import type { KubeObject, ObjectMeta } from "../model/store";

type NewObject = Partial<KubeObject> & { metadata: ObjectMeta };

/** Objects with the fields that k0s 1.36.3 and its kubelet give them (`objects-3-controllers-1-worker.json`). */
export const LABELS = {
    lease: "k0s.k0sproject.io/controller-lease",
    shutdownOnLeave: "k0s.k0sproject.io/shutdown-on-leave",
    shutdown: "k0s.k0sproject.io/shutdown",
} as const;

export interface NodeTraits {
    readonly name: string;
    readonly address: string;
    readonly kubeletVersion: string;
    readonly controlPlane: boolean;
    readonly taint: boolean;
    readonly labels: Readonly<Record<string, string>>;
    readonly taints: readonly string[];
}

export function newNode(host: SimHost, traits: NodeTraits, index: number): NewObject {
    const taints = [
        ...(traits.taint ? [{ effect: "NoSchedule", key: "node-role.kubernetes.io/control-plane" }] : []),
        ...traits.taints.map(parseTaint),
    ];
    return {
        metadata: {
            name: traits.name,
            annotations: { "node.alpha.kubernetes.io/ttl": "0" },
            labels: {
                "kubernetes.io/arch": host.options.arch ?? "amd64",
                "kubernetes.io/hostname": traits.name,
                "kubernetes.io/os": "linux",
                ...(traits.controlPlane && {
                    "node-role.kubernetes.io/control-plane": "true",
                    "node.k0sproject.io/role": "control-plane",
                }),
                ...traits.labels,
            },
        },
        spec: { podCIDR: `10.244.${index % 256}.0/24`, ...(taints.length > 0 && { taints }) },
        status: {},
    };
}

/** What the kubelet writes at each start; labels and taints it gives a fresh Node only. */
export function nodeStatus(host: SimHost, { address, name, kubeletVersion }: NodeTraits): Record<string, unknown> {
    const { arch = "amd64", cpus = 2, memoryMiB = 8192 } = host.options;
    const amount = { cpu: String(cpus), memory: `${memoryMiB * 1024}Ki`, pods: "110" };
    return {
        addresses: [
            ...address.split(",").map((one) => ({ address: one, type: "InternalIP" })),
            { address: name, type: "Hostname" },
        ],
        capacity: amount,
        allocatable: amount,
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
        nodeInfo: {
            architecture: arch,
            containerRuntimeVersion: "containerd://1.7.28",
            kubeletVersion,
            machineID: host.machineId,
            systemUUID: host.machineId,
            operatingSystem: "linux",
            osImage: "Debian GNU/Linux 12 (bookworm)",
        },
    };
}

export function readyCondition(ready: boolean | "unknown", now: string): Record<string, unknown> {
    const status = ready === "unknown" ? "Unknown" : ready ? "True" : "False";
    const [reason, message] =
        ready === "unknown"
            ? ["NodeStatusUnknown", "Kubelet stopped posting node status."]
            : ready
              ? ["KubeletReady", "kubelet is posting ready status"]
              : ["KubeletNotReady", "container runtime network not ready"];
    return { type: "Ready", status, reason, message, lastTransitionTime: now, lastHeartbeatTime: now };
}

export function newControlNode(name: string, withWorker: boolean): NewObject {
    return {
        metadata: {
            name,
            annotations: { "autopilot.k0sproject.io/mode": withWorker ? "controller+worker" : "controller" },
            labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" },
        },
    };
}

export function controlNodeStatus(name: string, address: string, k0sVersion: string): Record<string, unknown> {
    return {
        addresses: [
            { address, type: "InternalIP" },
            { address: name, type: "Hostname" },
        ],
        k0sVersion,
    };
}

export function joinedCondition(joined: boolean, message: string, now: string): Record<string, unknown> {
    return { type: "Joined", status: joined ? "True" : "False", message, lastTransitionTime: now };
}

/** `key=value:Effect` or `key:Effect`. */
function parseTaint(text: string): Record<string, string> {
    const [keyAndValue = "", effect = "NoSchedule"] = text.split(":");
    const [key = "", value] = keyAndValue.split("=");
    return { key, effect, ...(value !== undefined && { value }) };
}
