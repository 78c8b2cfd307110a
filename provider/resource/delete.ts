import { requireEngine } from "../engine";
import type { HeldLock } from "../lock";
import type { NodeKind } from "../pipelines/operation";
import { removeController } from "../pipelines/remove-controller";
import { removeWorker } from "../pipelines/remove-worker";
import { decideRemove, decideSettled, type Knowledge, knowledgeOf, refuseIfSaid } from "./decide";
import { removedAfterEnd } from "./after-end";
import { removeLastController } from "./last-controller";
import { look, type Situation } from "./look";
import { withPermissions } from "./permissions";
import { type Session, withSession } from "./session";
import { inputsOf, type NodeOutputs } from "./state";
import { interruptedBefore, operationOf, underLock, withHost } from "./under-lock";

/** Removals of this process that have not ended, by cluster: the end of a cluster waits for its others. */
const running = new Map<string | undefined, number>();

function count({ clusterId }: NodeOutputs, change: number): void {
    running.set(clusterId, (running.get(clusterId) ?? 0) + change);
}

/**
 * Takes a node out of its cluster and resets its machine. Fails before anything is touched when the cluster would not
 * survive it, and can be run again after a failure at any point.
 */
export async function remove(kind: NodeKind, _id: string, outs: NodeOutputs): Promise<void> {
    await requireEngine("delete");
    count(outs, 1);
    try {
        if (await removedAfterEnd(kind, outs)) return;
        await withSession(withPermissions(kind, inputsOf(outs)), outs, (session, started) =>
            session.alone && kind === "controller"
                ? removeLastController(session, outs, () => (running.get(outs.clusterId) ?? 0) > 1, started)
                : removeOne(kind, session, outs, started),
        );
    } finally {
        count(outs, -1);
    }
}

async function removeOne(kind: NodeKind, session: Session, outs: NodeOutputs, started: () => void): Promise<void> {
    const record = await interruptedBefore(kind, session, outs.nodeName);
    const { situation, plan } = await settle(session, outs, knowledgeOf(outs, record));
    refuseIfSaid(plan, session.inputs.host);
    if (plan.kind === "leave-alone") {
        session.log.line(plan.why);
        return;
    }
    await underLock(kind, session, situation.nodeName, (held) => removeUnderLock(kind, session, outs, held, started));
}

async function removeUnderLock(
    kind: NodeKind,
    session: Session,
    outs: NodeOutputs,
    held: HeldLock,
    started: () => void,
): Promise<void> {
    const { situation, plan } = await settle(session, outs, knowledgeOf(outs, held.found), held);
    refuseIfSaid(plan, session.inputs.host);
    if (plan.kind === "leave-alone") {
        session.log.line(plan.why);
        return;
    }
    started();
    plan.notes.forEach((note) => session.log.line(note));
    const operation = operationOf(kind, session, held, situation, outs);
    const host = plan.touchesHost ? withHost(operation, session, situation) : undefined;
    await (kind === "worker"
        ? removeWorker(operation, { ...plan, host })
        : removeController(operation, { ...plan, host }));
}

function settle(session: Session, outs: NodeOutputs, knowledge: Knowledge, held?: HeldLock) {
    return decideSettled(
        session,
        (): Promise<Situation> => look(session, outs, held?.lease),
        (seen) => decideRemove(session, seen, knowledge),
    );
}
