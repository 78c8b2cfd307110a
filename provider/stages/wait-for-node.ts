import { type Deadline, type Look, waitFor, type WaitOptions } from "../deadline";
import { describeRenamed, renamedAdvice, renamedTo } from "../decide/renamed";
import { RefusedError } from "../errors";
import type { NodeObject } from "../facts/cluster";
import { type HostOperation, runsWorkloads } from "./operation";
import { nothingToDo, type Outcome } from "./stage";
import { requireServiceStays } from "./service-stays";

const STAGE = "waiting for the Node";
/** A worker may need a second start until the API server it joins through answers. */
const RESTARTS_TO_GIVE_UP = 3;

/** Waits until the Node is registered by this machine and Ready. A plain controller has no Node. */
export async function waitForNode(
    operation: HostOperation,
    deadline: Deadline,
    patience: Pick<WaitOptions<NodeObject>, "seesItThrough"> = {},
): Promise<Outcome> {
    if (!runsWorkloads(operation)) return nothingToDo("a plain controller has no Node");
    const node = await waitFor<NodeObject>({
        stage: STAGE,
        host: operation.target.address,
        deadline,
        interval: 500,
        ...patience,
        look: () => lookForNode(operation, deadline),
        advice: `Look at the journal of k0s${operation.kind} on ${operation.target.address} and at \`kubectl describe node ${operation.nodeName}\`; then run \`pulumi up\` again.`,
    });
    return `${node.name} is Ready`;
}

async function lookForNode(operation: HostOperation, deadline: Deadline): Promise<Look<NodeObject>> {
    const node = await operation.cluster.kube.node(operation.nodeName);
    if (node?.ready !== true) refuseRenamed(operation);
    if (node === undefined) {
        await requireServiceStays(operation, { stage: STAGE, restarts: RESTARTS_TO_GIVE_UP }, deadline);
        return { seen: `Node ${operation.nodeName} is not registered` };
    }
    // A Node of that name may be an older machine's until the new kubelet has taken it over.
    if (node.machineId !== "" && node.machineId !== operation.hostFacts.machineId) {
        return { seen: `Node ${node.name} still belongs to machine ${node.machineId}` };
    }
    return node.ready ? { done: node } : { seen: `Node ${node.name} is NotReady` };
}

/** A wait would only end with its limit. A host without a service tells nothing of the name that it will have. */
function refuseRenamed({ hostFacts, nodeName }: HostOperation): void {
    const name = renamedTo(hostFacts, nodeName);
    if (name === undefined) return;
    throw new RefusedError({
        stage: STAGE,
        host: hostFacts.address,
        what: describeRenamed(name, nodeName),
        advice: renamedAdvice(hostFacts, nodeName),
        topic: "renamed-machine",
    });
}
