/** Programs as people write them: the compiler is the test, and each `@ts-expect-error` one that it must not accept. */
import type {
    BackupInputs,
    K0sConfig,
    LockInputs,
    MkeControllerNodeArgs,
    MkeInputs,
    MkeNode,
    RegistryInputs,
} from "../../sdk";
import { MkeControllerNode, MkeWorkerNode } from "../../sdk";

interface Settings {
    spec: { api: { sans: string[] } };
}

const config: K0sConfig = {
    spec: {
        api: { sans: ["api.example.com"], extraArgs: { "audit-log-maxage": "30" } },
        storage: { etcd: { extraArgs: { "quota-backend-bytes": "8589934592" } } },
        workerProfiles: [{ name: "large", values: { maxPods: 250 } }],
        // @ts-expect-error -- a number is no address
        network: { podCIDR: 10 },
    },
};

export function program(settings: Settings): MkeNode[] {
    const taints = ["dedicated=db:NoSchedule"] as const;
    const controllers = [{ host: "10.0.0.11" }] as const;
    const args: MkeControllerNodeArgs = { host: "10.0.0.12", cluster: { controllers } };
    args.taints = taints;
    args.labels = Object.freeze({ zone: "a" });
    args.k0sConfig = settings;
    args.k0sConfig = config;
    const c2 = new MkeControllerNode("c2", args);
    const w1 = new MkeWorkerNode("w1", { host: "10.0.0.21", cluster: c2.cluster, connection: c2.connection });
    const w2 = new MkeWorkerNode("w2", {
        host: "10.0.0.22",
        cluster: w1.cluster,
        drain: w1.drain,
        taints: w1.taints,
        labels: w1.labels,
        installFlags: w1.installFlags,
        timeouts: w1.timeouts,
        preflight: w1.preflight,
        k0s: w1.k0s,
        triggers: w1.triggers,
    });
    // @ts-expect-error -- a list of controllers has addresses
    new MkeWorkerNode("w3", { host: "10.0.0.23", cluster: { controllers: ["10.0.0.11"] } });
    return [c2, w1, w2];
}

export type Named = readonly [BackupInputs, LockInputs, MkeInputs, RegistryInputs];
