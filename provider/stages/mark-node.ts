import { API_SERVER_ANNOTATION, OWNER_ANNOTATION, TOKEN_ANNOTATION } from "../decide/names";
import { type Operation, runsWorkloads } from "../pipelines/operation";
import type { Outcome } from "../pipelines/stage";

/**
 * Says on the Node whose it is (safety.md 6) and, for a worker, which API server it depends on (safety.md 20); sets the
 * program's labels where the kubelet did not, because the Node is an older one or the labels are reserved.
 */
export async function markNode(operation: Operation, apiServer: string | undefined): Promise<Outcome> {
    if (!runsWorkloads(operation)) return "a plain controller has no Node";
    await reconcileLabels(operation, {});
    await operation.cluster.kube.annotateNode(operation.nodeName, {
        [OWNER_ANNOTATION]: operation.inputs.owner,
        [TOKEN_ANNOTATION]: operation.token,
        ...(operation.kind === "worker" && apiServer !== undefined ? { [API_SERVER_ANNOTATION]: apiServer } : {}),
    });
}

/** Labels given at installation reach only a fresh Node; this brings an existing one to what the program says. */
export async function reconcileLabels(
    { cluster, nodeName, inputs }: Pick<Operation, "cluster" | "nodeName" | "inputs">,
    previous: Readonly<Record<string, string>>,
): Promise<Outcome> {
    const dropped = Object.keys(previous).filter((key) => !(key in inputs.labels));
    const changes = { ...Object.fromEntries(dropped.map((key) => [key, null])), ...inputs.labels };
    if (Object.keys(changes).length === 0) return "no labels";
    await cluster.kube.labelNode(nodeName, changes);
}
