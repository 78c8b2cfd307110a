import { randomUUID } from "node:crypto";
import { machineOf } from "../adapters/host/machine";
import { isOtherMachine } from "../decide/identity";
import { isRefusal, type Refusal, type Topic } from "../decide/refusal";
import { defined } from "../defined";
import type { HostFacts, OperationRecord } from "../facts/host";
import type { NodeKind } from "../inputs";
import { type HeldLock, type LockKind, type LockRequest, type OperationLock, withLock } from "../lock";
import { isHeld, recordLeft } from "../lock/peek";
import type { HostOperation, Operation } from "../stages/operation";
import { hasBegun, refuseIfSaid } from "./decide";
import type { Situation } from "./look";
import { clusterElsewhere, type Session } from "./session";
import { expectHelper } from "./this-run";

/**
 * Runs the action under the lock of its kind: controllers share one, so that membership changes one at a time; workers have
 * one for each node name. It covers the machine that the look found, too (safety.md 14).
 */
export function underLock<T>(
    kind: NodeKind,
    session: Session,
    { nodeName, machineId }: Locked,
    action: (held: HeldLock) => Promise<T>,
): Promise<T> {
    const proceed = expectHelper(session.cluster.helper.address);
    return withLock({ ...requestFor(session, lockKindOf(kind, nodeName, machineId)), proceed }, action);
}

function requestFor({ inputs, cluster, log }: Session, kind: LockKind): LockRequest {
    return {
        kube: () => cluster.kube,
        elsewhere: () => clusterElsewhere(inputs, cluster),
        clusterId: cluster.helperFacts.clusterId,
        kind,
        owner: inputs.owner,
        target: inputs.host,
        timeoutSeconds: inputs.timeouts.lock,
        adoptStale: inputs.lock.adoptStale,
        log,
    };
}

function lockKindOf(kind: NodeKind, nodeName: string, machineId?: string): OperationLock {
    const machine = machineId === undefined || machineId === "" ? {} : { machine: machineId };
    return { ...(kind === "controller" ? { controlPlane: true } : { node: nodeName }), ...machine };
}

/** What an operation works on: two with one name, or with one machine, take turns. */
export interface Locked {
    readonly nodeName: string;
    /** undefined: the machine is not touched under this lock. */
    readonly machineId?: string | undefined;
}

/** The node, and its machine unless state knows that it was another one: that one is none of the node's. */
export function nodeAndMachine(
    { nodeName, host }: Situation,
    state: { readonly machineId?: string | undefined },
): Locked {
    const isOther = host !== undefined && isOtherMachine(host, defined({ machineId: state.machineId }));
    return { nodeName, machineId: isOther ? undefined : host?.machineId };
}

/** What an interrupted operation left in the lock, for the first look; nothing for a node whose name is not known yet. */
export async function interruptedBefore(
    kind: NodeKind,
    { cluster, inputs: { owner, host } }: Session,
    nodeName: string | undefined,
): Promise<OperationRecord | undefined> {
    if (kind === "worker" && nodeName === undefined) return undefined;
    return recordLeft(cluster.kube, lockKindOf(kind, nodeName ?? ""), { owner, target: host });
}

/** Refusals that speak of etcd's members, which another operation may be changing. */
const OF_MEMBERS: readonly (Topic | undefined)[] = ["quorum", "ghost-member"];

function mayPass(plan: { readonly kind: string }): plan is Refusal {
    return isRefusal(plan) && OF_MEMBERS.includes(plan.topic) && plan.isLimit !== true;
}

/**
 * A decision before the lock: a refusal ends here, with nothing written (safety.md 7). But a member that joins or leaves just
 * now looks like a broken one: while somebody holds the control plane's lock, only the decision under it counts.
 */
export async function decideBeforeLock<D extends { readonly plan: { readonly kind: string } }>(
    session: Session,
    decide: () => Promise<D>,
): Promise<D> {
    const { cluster, inputs, log } = session;
    const isChanging = (): Promise<boolean> => isHeld(cluster.kube, { controlPlane: true });
    const wasChanging = inputs.role !== "worker" && (await isChanging());
    const decided = await decide();
    if (mayPass(decided.plan) && (wasChanging || (await isChanging()))) {
        log.line(`another operation is changing the control plane; decided again after it: ${decided.plan.what}`);
        return decided;
    }
    refuseIfSaid(decided.plan, inputs.host);
    return decided;
}

/** What the pipelines work with; `situation` is the look that was decided on under the lock. */
export function operationOf(
    kind: NodeKind,
    session: Session,
    held: HeldLock,
    situation: Situation,
    { token, installedBinary = false }: { readonly token: string; readonly installedBinary?: boolean },
): Operation {
    const { inputs, cluster, log } = session;
    return {
        id: randomUUID(),
        kind,
        inputs,
        log,
        cluster,
        clusterFacts: situation.cluster,
        held,
        nodeName: situation.nodeName,
        peerAddress: situation.peerAddress,
        begunBefore: hasBegun(session, situation, { state: { token }, record: held.found }),
        token,
        progress: { hostChanged: false, installedBinary },
        takingTurnToDrain: (action) => withLock(requestFor(session, { drain: inputs.drain.concurrency }), action),
    };
}

/** The same operation with its host; undefined where that does not answer. */
export function withHost(operation: Operation, session: Session, situation: Situation): HostOperation | undefined {
    return situation.host === undefined ? undefined : onHost(operation, session, situation.host);
}

export function onHost(operation: Operation, { target }: Session, hostFacts: HostFacts): HostOperation {
    return { ...operation, target: target.onMachine(machineOf(hostFacts)), hostFacts };
}
