import type {
    MkeConfigObject,
    MkeKube,
    MkeReleaseObject,
    PatchOperation,
    PlanObject,
    WorkloadObject,
} from "../../provider/adapters/kube/mke";
import { type Calls, recorded } from "./fake-calls";

/** What an API server has of MKE; a test may change it at any time. */
export interface MkeObjects {
    config?: MkeConfigObject | undefined;
    releases?: MkeReleaseObject[];
    workloads?: WorkloadObject[];
    plans?: PlanObject[];
    /** Contents of Secrets by name. */
    dockerConfigs?: Readonly<Record<string, string>>;
}

/** Objects in memory, without an operator. A patch is applied to the list of hosts only. */
export function fakeMke(calls: Calls, objects: MkeObjects, answers: Partial<MkeKube> = {}): MkeKube {
    const own: MkeKube = {
        config: async () => objects.config,
        patchConfig: async (resourceVersion, operations) => {
            const { config } = objects;
            if (config?.resourceVersion !== resourceVersion) return false;
            objects.config = {
                ...config,
                hosts: operations.reduce(applied, config.hosts),
                resourceVersion: String(Number(resourceVersion) + 1),
            };
            return true;
        },
        releases: async () => objects.releases ?? [],
        workloads: async (namespace) => (objects.workloads ?? []).filter((one) => one.namespace === namespace),
        restart: async () => undefined,
        plans: async () => objects.plans ?? [],
        dockerConfig: async (name) => objects.dockerConfigs?.[name],
    };
    return recorded("mke", calls, own, answers, {
        patchConfig: (resourceVersion, operations) => `${resourceVersion} ${operations.map(inWords).join(", ")}`,
        restart: ({ namespace, name }) => `${namespace}/${name}`,
    });
}

function applied(
    hosts: readonly unknown[] | undefined,
    { op, path, value }: PatchOperation,
): readonly unknown[] | undefined {
    if (path === "/spec/hosts") return value as readonly unknown[];
    const [, at, field = ""] = /^\/spec\/hosts\/(\d+)\/(\w+)$/.exec(path) ?? [];
    if (at !== undefined)
        return hosts?.map((host, index) => (index === Number(at) ? withField(host, field, value) : host));
    if (op === "add") return [...(hosts ?? []), value];
    const index = Number(path.split("/").at(-1));
    return hosts?.filter((_, at) => at !== index);
}

/** Without it where there is no value. */
function withField(host: unknown, field: string, value: unknown): object {
    const others = Object.entries(host as object).filter(([name]) => name !== field);
    return Object.fromEntries([...others, ...(value === undefined ? [] : [[field, value]])]) as object;
}

function inWords({ op, path }: PatchOperation): string {
    return `${op} ${path}`;
}

/** An MkeConfig as the API has it. */
export function mkeConfig(change: Partial<MkeConfigObject> = {}): MkeConfigObject {
    return {
        resourceVersion: "10",
        generation: 1,
        version: "v4.2.1",
        hosts: [],
        imageRegistry: undefined,
        cloudProvider: false,
        observedGeneration: undefined,
        appliedVersion: undefined,
        phase: undefined,
        conditions: [],
        ...change,
    };
}

/** A Deployment of MKE whose two replicas are up to date. */
export function workload(name: string, change: Partial<WorkloadObject> = {}): WorkloadObject {
    return {
        kind: "Deployment",
        namespace: "mke",
        name,
        labels: { "app.kubernetes.io/managed-by": "Helm" },
        paused: false,
        rolls: true,
        generation: 1,
        observedGeneration: 1,
        wanted: 2,
        replicas: 2,
        updated: 2,
        ready: 2,
        ...change,
    };
}
