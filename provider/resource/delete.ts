import { requireEngine } from "../engine";
import type { NodeInputs } from "../inputs";
import type { HeldLock } from "../lock";
import type { NodeKind } from "../pipelines/operation";
import { removeController } from "../pipelines/remove-controller";
import { removeWorker } from "../pipelines/remove-worker";
import { decideRemove, decideSettled, type Knowledge, knowledgeOf, refuseIfSaid } from "./decide";
import { look, type Situation } from "./look";
import { removeLastController } from "./last-controller";
import { openSession, type Session } from "./session";
import { inputsOf, type NodeOutputs } from "./state";
import { operationOf, underLock, withHost } from "./under-lock";

/**
 * Takes a node out of its cluster and resets its machine. Fails before anything is touched when the cluster would not
 * survive it, and can be run again after a failure at any point.
 */
export async function remove(kind: NodeKind, _id: string, outs: NodeOutputs): Promise<void> {
    await requireEngine("delete");
    const inputs = inputsOf(outs);
    const session = await openSessionOrEnd(kind, inputs, outs);
    if (session === undefined) return;
    try {
        const knowledge = knowledgeOf(outs);
        const { situation, plan } = await settle(session, outs, knowledge);
        refuseIfSaid(plan, inputs.host);
        if (plan.kind === "leave-alone") {
            session.log.line(plan.why);
            return;
        }
        await underLock(kind, session, situation.nodeName, (held) => removeUnderLock(kind, session, outs, held));
    } finally {
        session.close();
    }
}

/** undefined: nobody else could help because it was the last controller, and that one is gone now. */
async function openSessionOrEnd(kind: NodeKind, inputs: NodeInputs, outs: NodeOutputs): Promise<Session | undefined> {
    try {
        return await openSession(inputs, outs);
    } catch (error) {
        if (kind === "controller" && (await removeLastController(inputs, outs))) return undefined;
        throw error;
    }
}

async function removeUnderLock(kind: NodeKind, session: Session, outs: NodeOutputs, held: HeldLock): Promise<void> {
    const record = held.found;
    const { situation, plan } = await settle(session, outs, knowledgeOf(outs, record), held);
    refuseIfSaid(plan, session.inputs.host);
    if (plan.kind === "leave-alone") {
        session.log.line(plan.why);
        return;
    }
    plan.notes.forEach((note) => session.log.line(note));
    const operation = operationOf(kind, session, held, situation, outs);
    const host = plan.touchesHost ? withHost(operation, session, situation) : undefined;
    await (kind === "worker"
        ? removeWorker(operation, { ...plan, host })
        : removeController(operation, { ...plan, host }));
}

function settle(session: Session, outs: NodeOutputs, knowledge: Knowledge, held?: HeldLock) {
    return decideSettled(
        (): Promise<Situation> => look(session, outs, held?.lease),
        (seen) => decideRemove(session, seen, knowledge),
    );
}
