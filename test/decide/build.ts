import type {
    ClusterFacts,
    ControlNodeObject,
    EtcdMemberObject,
    Member,
    NodeObject,
} from "../../provider/facts/cluster";
import type { HostFacts, HostMarker, OperationRecord, UnitFacts } from "../../provider/facts/host";

/** Facts of small invented clusters: three controllers c1–c3 at 10.0.0.1–3, worker w1 at 10.0.0.11. */

export const CA = "sha256:c1";
export const CLUSTER_ID = "11111111-2222-3333-4444-555555555555";
export const OWNER = "organization/project/dev/c3";
export const TOKEN = "token-1";

/** The API server's clock, by which every kubelet has just renewed its Lease. */
export const NOW = Date.parse("2026-11-29T14:00:00Z");

export function address(name: string): string {
    return name.startsWith("w") ? `10.0.0.1${name.slice(1)}` : `10.0.0.${name.slice(1)}`;
}

export function memberId(name: string): bigint {
    return 0xf00n + BigInt(Number.parseInt(name.slice(1), 10));
}

export function member(name: string, change: Partial<Member> = {}): Member {
    return { id: memberId(name), name, peerHosts: [address(name)], learner: false, health: "healthy", ...change };
}

export function etcdMember(name: string, change: Partial<EtcdMemberObject> = {}): EtcdMemberObject {
    return {
        name,
        uid: `uid-etcdmember-${name}`,
        leave: false,
        memberId: memberId(name),
        peerAddress: address(name),
        joined: "True",
        message: "",
        annotations: {},
        ...change,
    };
}

export function controlNode(name: string, change: Partial<ControlNodeObject> = {}): ControlNodeObject {
    return { name, uid: `uid-controlnode-${name}`, addresses: [address(name)], k0sVersion: "v1.36.3+k0s.2", ...change };
}

export function node(name: string, change: Partial<NodeObject> = {}): NodeObject {
    return {
        name,
        uid: `uid-node-${name}`,
        ready: true,
        readySince: 1,
        unschedulable: false,
        addresses: [address(name)],
        machineId: `machine-${name}`,
        kubeletPort: 10250,
        labels: {},
        annotations: {},
        taints: [],
        resourceVersion: "1",
        ...change,
    };
}

export function cluster(
    change: Partial<ClusterFacts> = {},
    names: readonly string[] = ["c1", "c2", "c3"],
): ClusterFacts {
    return {
        helper: {
            address: address("c1"),
            machineId: "machine-c1",
            nodeName: "c1",
            memberId: memberId("c1"),
            clusterId: CLUSTER_ID,
            caFingerprint: CA,
            etcdClusterId: 0xabcn,
            k0sVersion: "v1.36.3+k0s.2",
            dataDir: "/var/lib/k0s",
            k0sPath: "/usr/local/bin/k0s",
            arch: "amd64",
        },
        members: names.map((name) => member(name)),
        leaderId: memberId("c1"),
        alarms: [],
        etcdMembers: names.map((name) => etcdMember(name)),
        controlNodes: names.map((name) => controlNode(name)),
        nodes: names.map((name) => node(name)),
        heartbeats: Object.fromEntries([...names, "w1"].map((name) => [name, NOW])),
        now: NOW,
        mke: false,
        ...change,
    };
}

/** A machine without any trace of k0s. */
export function blankHost(name: string, change: Partial<HostFacts> = {}): HostFacts {
    return {
        address: address(name),
        machineId: `machine-${name}`,
        hostName: name,
        addresses: [address(name)],
        os: { id: "ubuntu", idLike: ["debian"], versionId: "24.04", name: "Ubuntu 24.04" },
        arch: "amd64",
        cpus: 2,
        memoryMiB: 4096,
        cgroupVersion: 2,
        diskFreeMiB: 20_000,
        clock: NOW / 1000,
        selinux: "disabled",
        init: "systemd",
        binary: undefined,
        units: { controller: undefined, worker: undefined },
        status: { state: "silent", reason: "no socket" },
        runLockHeld: false,
        ca: { pki: undefined, kubelet: undefined, unreadable: false },
        data: {
            dir: "/var/lib/k0s",
            exists: false,
            pki: false,
            etcdDatabase: false,
            etcdMember: false,
            kubeletConf: false,
            foreign: [],
            foreignKubelet: [],
        },
        mounts: [],
        tokenFile: "absent",
        apiServer: undefined,
        marker: undefined,
        k0sctlLock: undefined,
        ...change,
    };
}

export const BINARY = { path: "/usr/local/bin/k0s", version: "v1.36.3+k0s.2" } as const;

export function unit(args: readonly string[], active = "active"): UnitFacts {
    return { enabled: true, active, sub: active === "active" ? "running" : "dead", restarts: 0, args };
}

export const NO_DATA = blankHost("c3").data;

/** A controller+worker whose k0s runs. */
export function controllerHost(name: string, change: Partial<HostFacts> = {}): HostFacts {
    return blankHost(name, {
        binary: BINARY,
        units: { controller: unit(["/usr/local/bin/k0s", "controller", "--enable-worker=true"]), worker: undefined },
        status: answer("controller", true),
        runLockHeld: true,
        ca: { pki: CA, kubelet: undefined, unreadable: false },
        data: { ...NO_DATA, exists: true, pki: true, etcdDatabase: true, etcdMember: true },
        marker: marker(name, "controller"),
        ...change,
    });
}

/** A worker whose k0s runs. */
export function workerHost(name: string, change: Partial<HostFacts> = {}): HostFacts {
    return blankHost(name, {
        binary: BINARY,
        units: { controller: undefined, worker: unit(["/usr/local/bin/k0s", "worker"]) },
        status: answer("worker", true),
        runLockHeld: true,
        ca: { pki: undefined, kubelet: CA, unreadable: false },
        data: { ...NO_DATA, exists: true, kubeletConf: true },
        marker: marker(name, "worker"),
        ...change,
    });
}

export function answer(role: "controller" | "worker", workloads: boolean): HostFacts["status"] {
    return {
        state: "answers",
        role,
        workloads,
        singleNode: false,
        version: "v1.36.3+k0s.2",
        dataDir: "/var/lib/k0s",
        kubeletRootDir: undefined,
        invocationId: "0123456789abcdef0123456789abcdef",
    };
}

/** The same host with its service stopped. */
export function stopped(host: HostFacts): HostFacts {
    const halt = (facts: UnitFacts | undefined): UnitFacts | undefined =>
        facts && { ...facts, active: "inactive", sub: "dead" };
    return {
        ...host,
        units: { controller: halt(host.units.controller), worker: halt(host.units.worker) },
        status: { state: "silent", reason: "no socket" },
        runLockHeld: false,
    };
}

export function marker(name: string, role: HostMarker["role"], change: Partial<HostMarker> = {}): HostMarker {
    return {
        version: 1,
        owner: OWNER,
        token: TOKEN,
        role,
        nodeName: name,
        clusterId: CLUSTER_ID,
        machineId: `machine-${name}`,
        ...change,
    };
}

export function record(kind: OperationRecord["kind"], change: Partial<OperationRecord> = {}): OperationRecord {
    return { id: "operation-1", kind, owner: OWNER, target: address("c3"), baseline: ["f01", "f02"], ...change };
}
