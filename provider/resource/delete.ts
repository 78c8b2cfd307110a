import type { LeaveAlone, RemovePlan } from "../decide/plan";
import type { Refusal, Topic } from "../decide/refusal";
import { requireEngine } from "../engine";
import { RefusedError } from "../errors";
import type { NodeInputs, NodeKind } from "../inputs";
import { type HeldLock, whileMoving } from "../lock";
import { removeController } from "../pipelines/remove-controller";
import { removeWorker } from "../pipelines/remove-worker";
import { decideRemove, decideSettled, type Knowledge, knowledgeOf, refuseIfSaid } from "./decide";
import { removedAfterEnd, resetAlone } from "./after-end";
import { removeLastController } from "./last-controller";
import { mayResetAlone, startingAlone } from "./lone-controller";
import { look, type Situation } from "./look";
import { withPermissions } from "./permissions";
import { type Session, withSession } from "./session";
import { inputsOf, type NodeOutputs } from "./state";
import { actUndisturbed, decideAfter, endBefore, endBeforeLast, type Removal, whileRemoving } from "./this-run";
import { decideBeforeLock, interruptedBefore, nodeAndMachine, operationOf, underLock, withHost } from "./under-lock";

const STRANDED: Topic = "stranded-workers";

/**
 * Takes a node out of its cluster and resets its machine. Fails before anything is touched when the cluster would not
 * survive it, and can be run again after a failure at any point.
 */
export async function remove(kind: NodeKind, _id: string, outs: NodeOutputs): Promise<void> {
    await requireEngine("delete");
    await whileRemoving(kind, outs, (itself) => whileMoving(outs, () => removeNode(kind, outs, itself)));
}

async function removeNode(kind: NodeKind, outs: NodeOutputs, itself: Removal): Promise<void> {
    if (await removedAfterEnd(kind, outs)) return;
    const inputs = withPermissions(kind, inputsOf(outs));
    try {
        await startingAlone(inputs, outs, () => removeThrough(kind, inputs, outs, itself));
    } catch (error) {
        if (!mayResetAlone(inputs, error)) throw error;
        await resetAlone(inputs, outs, error);
    }
}

function removeThrough(kind: NodeKind, inputs: NodeInputs, outs: NodeOutputs, itself: Removal): Promise<void> {
    return withSession(inputs, outs, (session, started) => {
        const begin = (): void => {
            itself.hasBegun = true;
            started();
        };
        return session.alone && kind === "controller"
            ? removeLastController(session, outs, () => endBeforeLast(itself), begin)
            : removeOne(itself, session, outs, begin);
    });
}

async function removeOne(itself: Removal, session: Session, outs: NodeOutputs, started: () => void): Promise<void> {
    const others = (): readonly string[] => (itself.kind === "controller" ? endBefore(itself) : []);
    await actUndisturbed({ others, log: session.log, mayPass: isStranding }, () =>
        removeAfter(others, itself.kind, session, outs, started),
    );
}

/** Workers that would be stranded may have been marked, or be gone, a moment later. Nothing was changed then. */
function isStranding(error: unknown): boolean {
    return error instanceof RefusedError && error.topic === STRANDED;
}

async function removeAfter(
    others: () => readonly string[],
    kind: NodeKind,
    session: Session,
    outs: NodeOutputs,
    started: () => void,
): Promise<void> {
    const record = await interruptedBefore(kind, session, outs.nodeName);
    const { situation, plan } = await decideBeforeLock(session, () =>
        decideAfter({
            others,
            log: session.log,
            decide: () => settle(session, outs, knowledgeOf(outs, record)),
            isFinal: (decided) => decided.plan.kind === "leave-alone" || isRefusedAnyway(decided.plan),
        }),
    );
    if (plan.kind === "leave-alone") {
        session.log.line(plan.why, "quiet");
        return;
    }
    await underLock(kind, session, nodeAndMachine(situation, outs), (held) =>
        removeUnderLock(kind, session, outs, held, started),
    );
}

/** Workers that would be stranded may be on their way out; nothing else that is refused passes with them. */
function isRefusedAnyway(plan: RemovePlan | LeaveAlone | Refusal): boolean {
    return plan.kind === "refuse" && plan.topic !== STRANDED;
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
        session.log.line(plan.why, "quiet");
        return;
    }
    started();
    plan.notes.forEach((note) => session.log.line(note, "quiet"));
    const operation = operationOf(kind, session, held, situation, outs);
    const host = plan.touchesHost ? withHost(operation, session, situation) : undefined;
    await (kind === "worker"
        ? removeWorker(operation, { ...plan, host })
        : removeController(operation, { ...plan, host }));
    if (plan.doubt !== undefined) throw notReset(session, plan.doubt);
}

/** It is out of the cluster; the record stays, so that the next run resets its machine. */
function notReset({ inputs: { host } }: Session, { what, evidence, advice, topic }: Refusal): RefusedError {
    return new RefusedError({
        stage: "resetting",
        host,
        what: `the machine is left as it is: ${what}`,
        output: evidence.join("\n"),
        advice: `It is out of the cluster, and only its machine is left. ${advice ?? ""}`,
        topic,
    });
}

function settle(session: Session, outs: NodeOutputs, knowledge: Knowledge, held?: HeldLock) {
    return decideSettled(
        session,
        (): Promise<Situation> => look(session, outs, held?.lease),
        (seen) => decideRemove(session, seen, knowledge),
    );
}
