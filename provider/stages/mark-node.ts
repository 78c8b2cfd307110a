import {
    API_SERVER_ANNOTATION,
    LABELS_ANNOTATION,
    OWNER_ANNOTATION,
    TAINTS_ANNOTATION,
    TOKEN_ANNOTATION,
} from "../decide/names";
import { taintsAfter } from "../decide/taints";
import { ApiError } from "../errors";
import { type Operation, runsWorkloads } from "./operation";
import { nothingToDo, type Outcome } from "./stage";

const TAINT_ATTEMPTS = 5;

/**
 * Says on the Node whose it is (safety.md 6) and, for a worker, which API server it depends on (safety.md 20); sets the
 * program's labels where the kubelet did not, because the Node is an older one or the labels are reserved.
 */
export async function markNode(operation: Operation, apiServer: string | undefined): Promise<Outcome> {
    if (!runsWorkloads(operation)) return nothingToDo("a plain controller has no Node");
    await reconcileLabels(operation, {});
    await reconcileTaints(operation, { previous: [], all: false });
    await operation.cluster.kube.annotateNode(operation.nodeName, {
        [OWNER_ANNOTATION]: operation.inputs.owner,
        [TOKEN_ANNOTATION]: operation.token,
        ...(operation.kind === "worker" && apiServer !== undefined ? { [API_SERVER_ANNOTATION]: apiServer } : {}),
    });
}

/**
 * Brings the Node's labels to what the program says (spec/002, "Node label reconciliation"): those given at installation
 * reach only a fresh Node. Labels of ours that the program dropped go; `previous` are those it had before, in case the Node
 * was never annotated. Everybody else's stay.
 */
export async function reconcileLabels(
    { cluster, nodeName, inputs }: Pick<Operation, "cluster" | "nodeName" | "inputs">,
    previous: Readonly<Record<string, string>>,
): Promise<Outcome> {
    const node = await cluster.kube.node(nodeName);
    const owned = node?.annotations[LABELS_ANNOTATION]?.split(",") ?? [];
    const dropped = [...owned, ...Object.keys(previous)].filter((key) => key !== "" && !(key in inputs.labels));
    const wanted = Object.keys(inputs.labels);
    if (dropped.length + wanted.length === 0) return nothingToDo("no labels");
    await cluster.kube.labelNode(nodeName, {
        ...Object.fromEntries(dropped.map((key) => [key, null])),
        ...inputs.labels,
    });
    await cluster.kube.annotateNode(nodeName, { [LABELS_ANNOTATION]: wanted.length === 0 ? null : wanted.join(",") });
}

/**
 * Brings the Node's taints to what the program says: kubelet gives them to a fresh Node only. Those of ours that the program
 * dropped go, everybody else's stay. `previous`: those that the program named before; `all`: `taintsAfter`.
 */
export async function reconcileTaints(
    { cluster, nodeName, inputs }: Pick<Operation, "cluster" | "nodeName" | "inputs">,
    { previous, all }: { readonly previous: readonly string[]; readonly all: boolean },
): Promise<Outcome> {
    for (let attempt = 1; attempt <= TAINT_ATTEMPTS; attempt += 1) {
        const node = await cluster.kube.node(nodeName);
        if (node === undefined) return nothingToDo("there is no Node");
        const { taints, annotation } = taintsAfter(node, { wanted: inputs.taints, previous, all });
        // Kubernetes itself sets and removes taints, at any moment.
        if (taints !== undefined && !(await cluster.kube.taintNode(nodeName, taints, node.resourceVersion))) continue;
        if (annotation !== undefined) await cluster.kube.annotateNode(nodeName, { [TAINTS_ANNOTATION]: annotation });
        return taints === undefined && annotation === undefined ? nothingToDo("as they should be") : undefined;
    }
    throw new ApiError({
        stage: "reconciling taints",
        what: `Node ${nodeName} was changed by somebody else at each of ${TAINT_ATTEMPTS} attempts`,
        retryable: true,
    });
}
