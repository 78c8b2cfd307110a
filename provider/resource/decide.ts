import { setTimeout as sleep } from "node:timers/promises";
import {
    type AddPlan,
    type KnownNode,
    type LeaveAlone,
    planAdd,
    planRemove,
    type RemovalSituation,
    type RemovePlan,
} from "../decide/plan";
import { installProblems } from "../decide/component-versions";
import type { VerdictReport } from "../decide/etcd-verdict";
import { isOtherMachine } from "../decide/identity";
import { MATRIX, type Scenario } from "../decide/matrix";
import { nodeNameOf, peerAddressOf } from "../decide/names";
import { hasBegunBefore } from "../decide/plan-common";
import { refuseBesideK0sctl } from "../decide/others-at-work";
import { preflightProblems } from "../decide/preflight";
import { planRebuild } from "../decide/rebuild";
import { isRefusal, refuse, type Refusal, unchanged } from "../decide/refusal";
import { type Repair, repairFor } from "../decide/repair";
import { defined } from "../defined";
import { RefusedError } from "../errors";
import { memberIdFromHex } from "../facts/cluster";
import type { HostFacts, OperationRecord } from "../facts/host";
import { kindOf, type NodeInputs } from "../inputs";
import type { Log } from "../log";
import { firstLine } from "../text";
import type { Situation } from "./look";
import { tokensOfThisProcess } from "./ownership";
import type { Session } from "./session";
import type { NodeOutputs } from "./state";
import { apiAccessOf, externalHostOf } from "../adapters/k0s/api-address";

/** States every normal join or leave passes through last up to 15 s (observed.md). Never longer than `timeouts.ready`. */
const PASSING_SECONDS = 30;
const LOOK_AGAIN_EVERY = 1000;

export interface Knowledge {
    readonly state: KnownNode;
    /** Found in the lock: what an earlier holder left unfinished. */
    readonly record?: OperationRecord | undefined;
}

export function knowledgeOf(outs: Partial<NodeOutputs>, record?: OperationRecord): Knowledge {
    const { memberId, machineId, token } = outs;
    return {
        state: {
            ...(memberId === undefined ? {} : { memberId: memberIdFromHex(memberId) }),
            ...defined({ machineId, token }),
        },
        record,
    };
}

/** A decision; what it says of the state is that of a repair or a refusal. */
interface Passing {
    /** True where what was seen may be another thing soon. */
    readonly lookAgain: boolean;
    /** Seconds; default 30. */
    readonly lookAgainFor?: number;
    readonly drift?: readonly string[];
    readonly what?: string;
    /** Of a plan. */
    readonly scenario?: Scenario | undefined;
    readonly verdict?: VerdictReport | undefined;
}

/** Looks and decides, again for a bounded time while what was seen may pass by itself. */
export async function decideSettled<P extends Passing>(
    { inputs: { timeouts }, log }: { readonly inputs: Pick<NodeInputs, "timeouts">; readonly log: Log },
    lookOnce: () => Promise<Situation>,
    plan: (situation: Situation) => P,
): Promise<{ readonly situation: Situation; readonly plan: P }> {
    const started = performance.now();
    let isTold = false;
    for (;;) {
        const situation = await lookOnce();
        const decided = plan(situation);
        const patience = Math.min(decided.lookAgainFor ?? PASSING_SECONDS, timeouts.ready);
        const isOver = performance.now() - started >= patience * 1000;
        if (!decided.lookAgain || isOver) return { situation, plan: decided };
        if (!isTold) log.line(`this may pass by itself, looking again for up to ${patience} s: ${describe(decided)}`);
        isTold = true;
        await sleep(LOOK_AGAIN_EVERY);
    }
}

function describe({ drift = [], what, scenario, verdict }: Passing): string {
    if (what !== undefined) return what;
    if (drift.length > 0) return drift.join("; ");
    if (verdict?.passing === true) return `${verdict.verdict}: ${verdict.evidence.join("; ")}`;
    return scenario === undefined ? "k0s is on its way" : `scenario ${scenario}, ${MATRIX[scenario].title}`;
}

/** Why an add of a host that does not answer cannot even be decided. */
function unreachable(situation: Situation): Refusal {
    return {
        kind: "refuse",
        what: `the host does not answer: ${situation.unreachable ?? "unknown reason"}`,
        evidence: [],
        lookAgain: false,
    };
}

/** An add, and the host that it was decided for. */
type AddOnHost = AddPlan & { readonly host: HostFacts };

export function decideAdd(session: Session, situation: Situation, knowledge: Knowledge): AddOnHost | Refusal {
    return afterEarlierRun(session, situation, knowledge, additionOn(session, situation, knowledge));
}

/** An earlier run of ours began something on this node and did not end. */
export function hasBegun({ inputs }: Session, { host, peerAddress }: Situation, { state, record }: Knowledge): boolean {
    return hasBegunBefore({ host, peerAddress, inputs, state, ...defined({ record }) });
}

function afterEarlierRun<P extends { readonly kind: string }>(
    session: Session,
    situation: Situation,
    knowledge: Knowledge,
    plan: P | Refusal,
): P | Refusal {
    return isRefusal(plan) && hasBegun(session, situation, knowledge) ? { ...plan, begun: true } : plan;
}

function additionOn(session: Session, situation: Situation, knowledge: Knowledge): AddOnHost | Refusal {
    const { host } = situation;
    if (host === undefined) return unreachable(situation);
    const plan = refuseBesideK0sctl(host) ?? planAdd({ ...shared(session, situation, knowledge), host });
    return isRefusal(plan) ? plan : { ...plan, host };
}

export function decideRemove(session: Session, situation: Situation, knowledge: Knowledge): Removal {
    const busy = refuseBesideK0sctl(situation.host);
    const plan = busy ?? orKeepHelper(session, planRemove(removalSituation(session, situation, knowledge)));
    return afterEarlierRun(session, situation, knowledge, plan);
}

function shared(
    { inputs, cluster: { config } }: Session,
    { cluster, nodeName, peerAddress, targetEtcd }: Situation,
    { state, record }: Knowledge,
) {
    const { host, owner, adopt, onUnreachable, allowStrandedWorkers } = inputs;
    const { minControllers, maxControllers } = inputs.cluster;
    return {
        role: inputs.role,
        cluster,
        nodeName,
        peerAddress,
        state,
        apiAccess: apiAccessOf(config),
        inputs: { host, owner, adopt, onUnreachable, allowStrandedWorkers, minControllers, maxControllers },
        ...defined({ targetEtcd, record, externalAddress: externalHostOf(config) }),
    };
}

type Removal = RemovePlan | LeaveAlone | Refusal;

/** The controller that helps is not taken out with its own help. */
function orKeepHelper({ cluster }: Session, plan: Removal): Removal {
    if (plan.kind !== "remove" || plan.member?.id !== cluster.helperFacts.memberId) return plan;
    return {
        kind: "refuse",
        what: `${cluster.helper.address} in cluster.controllers is the controller that is to be removed`,
        evidence: [],
        lookAgain: false,
    };
}

export function removalSituation(session: Session, situation: Situation, knowledge: Knowledge): RemovalSituation {
    const common = shared(session, situation, knowledge);
    const { host, otherHostKey, unreachable: reason } = situation;
    return {
        ...common,
        host,
        ...(otherHostKey && reason !== undefined && { otherHostKey: firstLine(reason) }),
        tokensOfThisProcess: tokensOfThisProcess(),
    };
}

/** A refusal ends the operation with nothing changed. */
export function refuseIfSaid<P extends { readonly kind: string }>(
    plan: P,
    host: string,
): asserts plan is Exclude<P, Refusal> {
    if (isRefusal(plan)) throw refusedBy(plan, host);
}

export function refusedBy({ what, evidence, topic, advice, begun = false }: Refusal, host: string): RefusedError {
    return new RefusedError({
        stage: "deciding",
        host,
        what,
        output: evidence.join("\n"),
        advice: [unchanged(begun), ...(advice === undefined ? [] : [advice])].join(" "),
        topic,
    });
}

/** What differs from a healthy node and what an update does about it; undefined where the host does not answer. */
export function decideRepair(
    { inputs }: Session,
    situation: Situation,
    { state, record }: Knowledge,
): Repair | undefined {
    const { host, cluster, nodeName, peerAddress, targetEtcd } = situation;
    if (host === undefined) return undefined;
    const { role, owner, labels, taints, installFlags } = inputs;
    return repairFor({
        role,
        host,
        cluster,
        nodeName,
        peerAddress,
        state,
        owner,
        labels,
        taints,
        installFlags,
        ...defined({ targetEtcd, record }),
    });
}

/** How to take out what is left of a node whose host joins again in the same update, or why not (safety.md 12). */
export function decideRebuild(session: Session, situation: Situation, knowledge: Knowledge): Removal {
    return afterEarlierRun(session, situation, knowledge, rebuildingOn(session, situation, knowledge));
}

function rebuildingOn(session: Session, situation: Situation, knowledge: Knowledge): Removal {
    const { host } = situation;
    if (host === undefined) return unreachable(situation);
    const busy = refuseBesideK0sctl(host);
    if (busy !== undefined) return busy;
    const unfit = unfitToReturn(session, situation, host);
    if (unfit !== undefined) return unfit;
    const removal = removalSituation(session, situation, knowledge);
    const again = isOtherMachine(host, knowledge.state) ? rejoining(session, host) : situation;
    return orKeepHelper(session, planRebuild({ ...removal, host }, again));
}

/** Nothing is removed that could not come back; how much room there is only its reset tells. */
function unfitToReturn({ inputs }: Session, { cluster: { helper } }: Situation, host: HostFacts): Refusal | undefined {
    const { role, k0s, preflight } = inputs;
    const installs = { kind: kindOf(role), version: k0s.version ?? helper.k0sVersion };
    const tooOld = installProblems(installs, helper.k0sVersion);
    const problems = [...tooOld, ...preflightProblems(host, { ...preflight, minDiskMiB: false }, role)];
    if (problems.length === 0) return undefined;
    const what = `it cannot be added again: ${problems.join("; ")}`;
    return refuse(what, [], tooOld.length > 0 ? "version-mismatch" : undefined);
}

/** A new machine may have another name and another address than the old one. */
function rejoining({ inputs }: Session, host: HostFacts): { nodeName: string; peerAddress: string } {
    const found = peerAddressOf(host, inputs);
    return { nodeName: nodeNameOf(host, inputs), peerAddress: found.ok ? found.address : host.address };
}
