import { isDeepStrictEqual } from "node:util";
import type { Repair } from "../decide/repair";
import { requireEngine } from "../engine";
import { RefusedError } from "../errors";
import type { NodeInputs } from "../inputs";
import type { HeldLock } from "../lock";
import type { HostOperation, NodeKind } from "../pipelines/operation";
import { repairNode } from "../pipelines/repair-node";
import { updateLabels } from "../pipelines/settle-node";
import { type Addition, foreseeAdd, performAdd } from "./add-node";
import { decideRepair, decideSettled, knowledgeOf } from "./decide";
import { changedInputs, isStoredOnly } from "./diff";
import { foundHalfMade, foundIn, foundReady } from "./found";
import { look, type Situation } from "./look";
import { type Session, withSession } from "./session";
import { type FoundOutputs, initFailure, inputsOf, type NodeOutputs, outputsOf } from "./state";
import { operationOf, underLock, withHost } from "./under-lock";

/**
 * Brings a node to what the program says: finishes an add that did not reach its end, repairs what drifted, and applies
 * changed inputs. It looks again under the lock, so that old drift does nothing to a node that is healthy now.
 */
export async function update(
    kind: NodeKind,
    id: string,
    olds: NodeOutputs,
    news: NodeInputs,
): Promise<{ outs: NodeOutputs }> {
    await requireEngine("update");
    if (onlyStores(olds, news)) return { outs: outputsOf(news, foundIn(olds)) };
    const found = await withSession(news, olds, (session, started) =>
        olds.status === "joining"
            ? resumeAdd(kind, id, session, olds, started)
            : bringInLine(kind, session, olds, started),
    );
    return { outs: outputsOf(news, found) };
}

function onlyStores(olds: NodeOutputs, news: NodeInputs): boolean {
    const changed = changedInputs({ ...olds }, { ...news });
    return olds.status === "ready" && olds.drift.length === 0 && changed.length > 0 && isStoredOnly(changed);
}

async function resumeAdd(
    kind: NodeKind,
    id: string,
    session: Session,
    olds: NodeOutputs,
    started: () => void,
): Promise<FoundOutputs> {
    const addition: Addition = { kind, session, mark: olds, knowledge: knowledgeOf(olds), remembered: olds };
    let begun: HostOperation | undefined;
    try {
        const nodeName = await foreseeAdd(addition);
        return await underLock(kind, session, nodeName, async (held) => {
            const done = await performAdd(addition, held, (operation) => {
                begun = operation;
                started();
            });
            return foundReady(done);
        });
    } catch (error) {
        if (begun === undefined) throw error;
        throw initFailure({ id, inputs: session.inputs, outs: outputsOf(session.inputs, foundHalfMade(begun)), error });
    }
}

async function bringInLine(
    kind: NodeKind,
    session: Session,
    olds: NodeOutputs,
    started: () => void,
): Promise<FoundOutputs> {
    const first = await lookAndDecide(session, olds);
    return underLock(kind, session, first.situation.nodeName, async (held) => {
        const { situation, plan } = await lookAndDecide(session, olds, held);
        const operation = withHost(operationOf(kind, session, held, situation, olds), session, situation);
        if (operation === undefined) throw cannotRepair(session, notAnswering(situation));
        started();
        await repairNode(operation, plan);
        await applyChanges(operation, olds);
        return foundReady(operation);
    });
}

async function lookAndDecide(
    session: Session,
    olds: NodeOutputs,
    held?: HeldLock,
): Promise<{ situation: Situation; plan: Repair }> {
    const knowledge = knowledgeOf(olds);
    const decided = await decideSettled(
        session.inputs,
        () => look(session, olds, held?.lease),
        (situation) => decideRepair(session, situation, knowledge) ?? notAnswering(situation),
    );
    if (decided.plan.action === "fail" || decided.plan.action === "rebuild") throw cannotRepair(session, decided.plan);
    return decided;
}

function notAnswering({ unreachable }: Situation): Repair {
    return { drift: [unreachable ?? "the host does not answer"], action: "fail", lookAgain: false };
}

async function applyChanges(operation: HostOperation, olds: NodeOutputs): Promise<void> {
    const before = inputsOf(olds);
    if (operation.inputs.role !== "controller" && !isDeepStrictEqual(before.labels, operation.inputs.labels)) {
        await updateLabels(operation, before.labels);
    }
}

function cannotRepair({ inputs }: Session, { drift, topic }: Repair): RefusedError {
    return new RefusedError({
        stage: "repairing",
        host: inputs.host,
        what: drift.join("; "),
        advice: "This is not repaired automatically. Nothing was changed.",
        ...(topic === undefined ? {} : { topic }),
    });
}
