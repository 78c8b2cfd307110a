import { isDeepStrictEqual } from "node:util";
import { lostFlags, missingFlags, withoutMissing } from "../decide/flag-drift";
import { markerOf } from "../decide/identity";
import { refuseBesideK0sctl } from "../decide/others-at-work";
import { type Refusal, unchanged } from "../decide/refusal";
import type { Repair } from "../decide/repair";
import { ApiError, ConnectionError, reasonOf, RefusedError } from "../errors";
import type { NodeSettings, OperationRecord } from "../facts/host";
import type { NodeInputs, NodeKind } from "../inputs";
import { type HeldLock, whileMoving } from "../lock";
import type { HostOperation } from "../stages/operation";
import { refuseWhileVersionsMove } from "../pipelines/checks";
import { repairNode } from "../pipelines/repair-node";
import { foreseeReinstall, reinstallNode } from "../pipelines/reinstall-node";
import { updateLabels, updateTaints } from "../pipelines/settle-node";
import { commandDeadline } from "../stages/timing";
import { type ReinstallPlan, settingsOf } from "../stages/plan-reinstall";
import { noteFlags } from "../stages/record-operation";
import { type Addition, foreseeAdd, performAdd } from "./add-node";
import { decideRepair, decideSettled, hasBegun, type Knowledge, knowledgeOf, refusedBy } from "./decide";
import { changedInputs, isStoredOnly } from "./diff";
import { foundHalfMade, foundIn, foundReady } from "./found";
import { mayResetAlone, startingAlone } from "./lone-controller";
import { look, type Situation } from "./look";
import { foreseeRebuild, nameAgain, rebuildNode } from "./rebuild";
import { logOf, type Session, withWorkingSession } from "./session";
import { type FoundOutputs, InitFailure, inputsOf, type NodeOutputs, outputsOf } from "./state";
import { interruptedBefore, type Locked, operationOf, underLock, withHost } from "./under-lock";

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
    if (onlyStores(olds, news)) return { outs: outputsOf(news, foundIn(olds)) };
    const bring = (): Promise<FoundOutputs> =>
        withWorkingSession(kind, news, olds, (session, started) => {
            const updating: Updating = { kind, id, session, olds, started };
            return olds.status === "joining" ? resumeAdd(updating) : bringInLine(updating);
        });
    try {
        return { outs: outputsOf(news, await startingAlone(news, olds, bring)) };
    } catch (error) {
        // What its removal needs must get into the state, although nothing can be done for the node any more.
        if (!mayResetAlone(news, error) || !changesOnlyStored(olds, news)) throw error;
        logOf(news).line(`${reasonOf(error)}: only its inputs are stored`);
        return { outs: outputsOf(news, foundIn(olds)) };
    }
}

interface Updating {
    readonly kind: NodeKind;
    readonly id: string;
    readonly session: Session;
    readonly olds: NodeOutputs;
    readonly started: () => void;
}

function onlyStores(olds: NodeOutputs, news: NodeInputs): boolean {
    return olds.status === "ready" && olds.drift.length === 0 && changesOnlyStored(olds, news);
}

function changesOnlyStored(olds: NodeOutputs, news: NodeInputs): boolean {
    const changed = changedInputs({ ...olds }, { ...news });
    return changed.length > 0 && isStoredOnly(changed);
}

async function resumeAdd(updating: Updating): Promise<FoundOutputs> {
    const { kind, session } = updating;
    const found = await foreseeAdd(additionOf(updating));
    return underLock(kind, session, found, (held) => finishAdd(updating, held));
}

function additionOf({ kind, session, olds }: Updating): Addition {
    const given = settingsBefore(session.inputs, olds);
    const addition = { kind, session, mark: olds, knowledge: knowledgeOf(olds), remembered: olds };
    return given === undefined ? addition : { ...addition, given };
}

/** The add pipeline from where it was interrupted. */
function finishAdd(updating: Updating, held: HeldLock): Promise<FoundOutputs> {
    return keepingHalfMade(updating, async (begun) => foundReady(await performAdd(additionOf(updating), held, begun)));
}

/** A failure after the first change of an add keeps the node in state as half made, as a failed `create` does. */
async function keepingHalfMade(
    { id, session, started }: Updating,
    action: (begun: (operation: HostOperation) => void) => Promise<FoundOutputs>,
): Promise<FoundOutputs> {
    let begun: HostOperation | undefined;
    try {
        return await action((operation) => {
            begun = operation;
            started();
        });
    } catch (error) {
        if (begun === undefined) throw error;
        throw new InitFailure({
            id,
            inputs: session.inputs,
            outs: outputsOf(session.inputs, foundHalfMade(begun)),
            error,
        });
    }
}

async function bringInLine(updating: Updating): Promise<FoundOutputs> {
    const { kind, session, olds } = updating;
    const left = await interruptedBefore(kind, session, olds.nodeName);
    const first = await lookAndDecide(session, olds, left);
    const bring = (): Promise<FoundOutputs> => bringUnderLock(updating, first.situation, left);
    if (first.plan.action !== "rebuild") return bring();
    await foreseeRebuild(session, first.situation, first.knowledge);
    return whileMoving({ clusterId: session.cluster.helperFacts.clusterId, nodeName: first.situation.nodeName }, bring);
}

function bringUnderLock(
    updating: Updating,
    first: Situation,
    left: OperationRecord | undefined,
): Promise<FoundOutputs> {
    const { kind, session, olds } = updating;
    return underLock(kind, session, lockedFor(session, olds, first), async (held) => {
        const second = await lookAndDecide(session, olds, held.found ?? left, held);
        switch (second.plan.action) {
            case "finish":
                return finishAdd(updating, held);
            case "rebuild":
                return rebuild(updating, held, second);
            default:
                return repair(updating, held, second);
        }
    });
}

/** The machine, too, unless it is a new one with a name of its own: that name is locked before the machine, for the second half. */
function lockedFor(session: Session, olds: NodeOutputs, { host, nodeName }: Situation): Locked {
    const isRenamed = host !== undefined && nameAgain(session, olds, host) !== nodeName;
    return { nodeName, machineId: isRenamed ? undefined : host?.machineId };
}

function rebuild(updating: Updating, held: HeldLock, { plan: { drift }, ...seen }: Decided): Promise<FoundOutputs> {
    const { kind, session, olds, started } = updating;
    return keepingHalfMade(updating, (begun) =>
        rebuildNode({ kind, session, olds, held, drift }, seen, { removal: started, add: begun }),
    );
}

async function repair(updating: Updating, held: HeldLock, { situation, plan }: Decided): Promise<FoundOutputs> {
    const { kind, session, olds, started } = updating;
    const operation = withHost(operationOf(kind, session, held, situation, olds), session, situation);
    if (operation === undefined) throw cannotRepair(session, notAnswering(situation));
    try {
        await refuseWhileVersionsMove(operation);
        const reinstall = await plannedReinstall(operation, olds);
        if (reinstall === undefined) await repairNode(operation, plan);
        else await reinstallAndMark(operation, reinstall, plan);
        await applyChanges(operation, olds);
        return await foundReady(operation);
    } catch (error) {
        // The helper's own k0s may be restarted meanwhile; through another one, all of this can be done again.
        if (!isLostOnTheWay(error)) started();
        throw error;
    }
}

function isLostOnTheWay(error: unknown): boolean {
    return error instanceof ConnectionError || error instanceof ApiError;
}

/** Only where the program changed something that k0s was given, somebody took out a flag of it, or such a change did not end. */
async function plannedReinstall(operation: HostOperation, olds: NodeOutputs): Promise<ReinstallPlan | undefined> {
    const before = settingsBefore(operation.inputs, olds);
    const { kind, inputs, hostFacts } = operation;
    const marker = markerOf(hostFacts);
    const args = hostFacts.units[kind]?.args;
    const left = marker?.operation?.kind === "reinstall" ? marker.operation : undefined;
    // One that was to be given back when that was killed is missing still, and nothing else tells.
    const missing = (left === undefined ? lostFlags : missingFlags)(marker, args, inputs.installFlags);
    if (before === undefined && left === undefined && missing.length === 0) return undefined;
    const given = [inputs, ...(left?.settings ?? [])].map(({ installFlags }) => installFlags);
    const plan = await foreseeReinstall(operation, withoutMissing(before ?? settingsOf(inputs), given, missing));
    if (plan === undefined) await noteFlags(operation, commandDeadline());
    return plan;
}

/** What k0s was given, where the program says something else now. */
function settingsBefore(inputs: NodeInputs, olds: NodeOutputs): NodeSettings | undefined {
    const changed = changedInputs({ ...olds }, { ...inputs });
    return changed.some((property) => GIVEN_TO_K0S.includes(property)) ? settingsOf(inputsOf(olds)) : undefined;
}

const GIVEN_TO_K0S = ["installFlags", "taints", "k0sConfig"];

/** The settings come before any repair: they may be what keeps the service from running. */
async function reinstallAndMark(operation: HostOperation, reinstall: ReinstallPlan, plan: Repair): Promise<void> {
    await reinstallNode(operation, reinstall, { stopped: plan.action === "start-service" });
    const isReady = reinstall.restart || plan.action === "start-service";
    const action = isReady || plan.action === "nothing" ? "reclaim" : plan.action;
    await repairNode(operation, { ...plan, action });
}

interface Decided {
    readonly situation: Situation;
    readonly plan: Repair;
    readonly knowledge: Knowledge;
}

async function lookAndDecide(
    session: Session,
    olds: NodeOutputs,
    record: OperationRecord | undefined,
    held?: HeldLock,
): Promise<Decided> {
    const knowledge = knowledgeOf(olds, record);
    const { situation, plan } = await decideSettled<Repair | Refusal>(
        session,
        () => look(session, olds, held?.lease),
        (situation) =>
            refuseBesideK0sctl(situation.host) ??
            decideRepair(session, situation, knowledge) ??
            notAnswering(situation),
    );
    if ("kind" in plan) throw refusedBy(plan, session.inputs.host);
    if (plan.action === "fail") {
        throw situation.otherHostKey
            ? otherHostKey(session)
            : cannotRepair(session, plan, hasBegun(session, situation, knowledge));
    }
    return { situation, plan, knowledge };
}

function notAnswering({ unreachable }: Situation): Repair {
    const drift = [unreachable ?? "the host does not answer"];
    return { drift, action: "fail", uncordon: false, lookAgain: false };
}

/** A machine that was replaced has another key, and so has somebody in between: only a person can tell which it is. */
function otherHostKey({ inputs }: Session): RefusedError {
    return new RefusedError({
        stage: "repairing",
        host: inputs.host,
        what: `the host shows a different SSH host key than \`connection.hostKey\` (${inputs.connection.hostKey ?? ""})`,
        advice:
            "If the machine was replaced, set `connection.hostKey` of this resource to the new machine's key (on it: " +
            "`ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`) and run `pulumi up` again: what is left of the old node is " +
            "removed, and the new machine joins. If it was not, find out who answers at this address. Nothing was changed.",
    });
}

async function applyChanges(operation: HostOperation, olds: NodeOutputs): Promise<void> {
    const before = inputsOf(olds);
    const { role, labels, taints } = operation.inputs;
    if (role === "controller") return;
    if (!isDeepStrictEqual(before.labels, labels)) await updateLabels(operation, before.labels);
    if (!isDeepStrictEqual(before.taints, taints)) await updateTaints(operation, before.taints);
}

function cannotRepair({ inputs }: Session, { drift, topic, advice }: Repair, begun = false): RefusedError {
    return new RefusedError({
        stage: "repairing",
        host: inputs.host,
        what: drift.join("; "),
        advice: [
            `This is not repaired automatically. ${unchanged(begun)}`,
            ...(advice === undefined ? [] : [advice]),
        ].join(" "),
        topic,
    });
}
