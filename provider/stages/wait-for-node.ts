import { type Deadline, type Look, waitFor } from "../deadline";
import { CommandError } from "../errors";
import type { NodeObject } from "../facts/cluster";
import { type HostOperation, runsWorkloads } from "../pipelines/operation";
import type { Outcome } from "../pipelines/stage";

const STAGE = "waiting for the Node";
const JOURNAL_LINES = 20;

/** Waits until the Node is registered by this machine and Ready. A plain controller has no Node. */
export async function waitForNode(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    if (!runsWorkloads(operation)) return "a plain controller has no Node";
    const node = await waitFor<NodeObject>({
        stage: STAGE,
        host: operation.target.address,
        deadline,
        interval: 500,
        look: () => lookForNode(operation, deadline),
        advice: `Look at the journal of k0s${operation.kind} on ${operation.target.address} and at \`kubectl describe node ${operation.nodeName}\`; then run \`pulumi up\` again.`,
    });
    return `${node.name} is Ready`;
}

async function lookForNode(operation: HostOperation, deadline: Deadline): Promise<Look<NodeObject>> {
    const node = await operation.cluster.kube.node(operation.nodeName);
    if (node === undefined) {
        await failIfServiceFailed(operation, deadline);
        return { seen: `Node ${operation.nodeName} is not registered` };
    }
    // A Node of that name may be an older machine's until the new kubelet has taken it over.
    if (node.machineId !== "" && node.machineId !== operation.hostFacts.machineId) {
        return { seen: `Node ${node.name} still belongs to machine ${node.machineId}` };
    }
    return node.ready ? { done: node } : { seen: `Node ${node.name} is NotReady` };
}

async function failIfServiceFailed({ target, kind }: HostOperation, deadline: Deadline): Promise<void> {
    const state = await target.serviceState(kind, deadline);
    if (state === undefined || (state.active !== "failed" && state.restarts < 3)) return;
    throw new CommandError({
        stage: STAGE,
        host: target.address,
        what: `k0s does not stay up (${state.active}, ${state.restarts} restarts)`,
        output: await target.journal(kind, JOURNAL_LINES, deadline),
        advice: "The reason is in the lines above. Run `pulumi up` again when it is mended.",
    });
}
