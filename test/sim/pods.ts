import type { KubeObject, ObjectMeta } from "./model/store";
import { BUDGET_ANNOTATION, WEBHOOK_ANNOTATION } from "./servers/api-objects";

export interface PodOptions {
    readonly name: string;
    /** Default `default`. */
    readonly namespace?: string;
    /** A disruption budget never lets it go. */
    readonly blocked?: boolean;
    /** Name of an admission webhook that is to be asked about its eviction and does not answer. */
    readonly failingWebhook?: string;
    /** Kind of its controller, e.g. `DaemonSet`; default `ReplicaSet`; "" = none. */
    readonly ownerKind?: string;
    /** It lies in a file on the host. */
    readonly mirror?: boolean;
    readonly finalizers?: readonly string[];
    /** Simulated seconds it takes to end; default 1. */
    readonly terminationSeconds?: number;
}

export function newPod(nodeName: string, options: PodOptions): Partial<KubeObject> & { metadata: ObjectMeta } {
    const { name, namespace = "default", ownerKind = "ReplicaSet", terminationSeconds = 1 } = options;
    const owner = { apiVersion: "apps/v1", kind: ownerKind, name: `${name}-owner`, uid: name, controller: true };
    return {
        metadata: {
            name,
            namespace,
            annotations: {
                ...(options.blocked === true && { [BUDGET_ANNOTATION]: "0" }),
                ...(options.failingWebhook !== undefined && { [WEBHOOK_ANNOTATION]: options.failingWebhook }),
                ...(options.mirror === true && { "kubernetes.io/config.mirror": name }),
            },
            ...(ownerKind !== "" && { ownerReferences: [owner] }),
            ...(options.finalizers && { finalizers: [...options.finalizers] }),
        },
        spec: { nodeName, terminationGracePeriodSeconds: terminationSeconds, containers: [{ name: "main" }] },
        status: { phase: "Running" },
    };
}
