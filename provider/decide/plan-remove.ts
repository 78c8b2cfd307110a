import { defined } from "../defined";
import type { Member } from "../facts/cluster";
import type { HostFacts, OperationRecord } from "../facts/host";
import { kindOf } from "../inputs";
import { hasHeartbeat, type Life, lifeOf } from "./alive";
import { describeMember } from "./cluster-health";
import { refuseForeignContent } from "./directories";
import { eraOf } from "./era";
import { explainedBy } from "./explained";
import { leaveWasOurs, type VerdictReport } from "./etcd-verdict";
import { isOurs } from "./identity";
import { cellFor, type RemoveSteps } from "./matrix";
import { orderOf } from "./matrix-steps";
import { controlNodeObject, hasHost, nodeObject, subjectAddresses } from "./own-objects";
import {
    countVoters,
    describeHealth,
    interruptedOperation,
    isPassing,
    isRemoving,
    look,
    type Look,
    refuseCell,
    refuseUnlisted,
    refuseWrongHost,
    removalOf,
    topicOf,
    verdictOf,
} from "./plan-common";
import type { LeaveAlone, RemovalSituation, RemovePlan, Situation } from "./plan-types";
import { howToLeave, type LeaveMethod, mayRemove } from "./quorum";
import { NOT_BEGUN_ADVICE, type Refusal, refuse } from "./refusal";
import { checkClaim } from "./plan-claim";
import { isHealthy } from "./scenario";
import { doubtOf, isSilent } from "./silent-etcd";
import { accessWithout, strandedWorkers } from "./stranded";
import { isOfAnotherMachine, successorOf } from "./successor";
import { refuseUnreachable } from "./unreachable";
import { isOwnMember } from "./whose-member";

/**
 * How to take a node out, or why not. In order: whose it is now, which machine it is, role, second cluster, scenario,
 * verdict, matrix cell – where the cell fails, our interrupted operation that explains the state –, quorum, workers that
 * would be stranded.
 */
export function planRemove(situation: RemovalSituation): RemovePlan | LeaveAlone | Refusal {
    const claim = checkClaim(situation, nodeObject(situation));
    if (claim !== undefined) return claim;
    const course = hasHost(situation) ? fromHost(situation) : fromCluster(situation);
    if ("what" in course) return course;
    return refuseQuorum(situation, course) ?? refuseStranding(situation, course) ?? toPlan(situation, course);
}

/** What is to be done, before quorum is looked at. */
interface Course {
    readonly steps: RemoveSteps;
    readonly seen: Look | undefined;
    readonly verdict: VerdictReport | undefined;
    readonly touchesHost: boolean;
    readonly notes: readonly string[];
    readonly resumes?: OperationRecord;
    /** Why its machine is not reset, where that is not known to be ours to lose. */
    readonly doubt?: Refusal;
}

function fromHost(situation: RemovalSituation & Situation): Course | Refusal {
    const wrong = refuseWrongHost(situation);
    if (wrong !== undefined) return wrong;
    const seen = look(situation);
    if (!("scenario" in seen)) return seen;
    const course = refuseUnlisted(situation, seen) ?? chooseCourse(situation, seen);
    if ("what" in course) return course;
    const certain = refuseTaken(situation, course) ?? withoutDoubt(situation, withinRights(situation, course));
    return "what" in certain ? certain : refuseCleaning(situation, certain);
}

function refuseTaken(situation: Situation, { steps, verdict }: Course): Refusal | undefined {
    if (steps.leave === "none" || verdict?.member === undefined) return undefined;
    return refuseOthersMember(situation, verdict.member, verdict.evidence);
}

/** The last look at what is in the directories before they are emptied (safety.md 15). */
function refuseCleaning({ host }: Situation, course: Course): Course | Refusal {
    const cleans = course.touchesHost && course.steps.machine !== "none";
    return (cleans ? refuseForeignContent(host) : undefined) ?? course;
}

function chooseCourse(situation: RemovalSituation & Situation, seen: Look): Course | Refusal {
    const { scenario, verdict } = seen;
    const cell = cellFor(scenario.scenario, verdict?.verdict, kindOf(situation.role), "remove");
    const record = interruptedOperation(situation);
    const common = { seen, verdict, touchesHost: true, notes: [] };
    if (cell.action.kind === "remove") return finishLeave({ ...common, steps: cell.action.steps }, record);
    const resumed = record === undefined ? undefined : resume(situation, seen, record);
    if (resumed !== undefined && record !== undefined) return { ...common, ...resumed, resumes: record };
    return refuseCell(cell, seen);
}

/**
 * A leave that we asked for and that never ended is done by ID now, not waited for again (safety.md 11); an object of ours that
 * k0s never updates is deleted in the end. Our mark on the object tells our own request from somebody else's, which is waited
 * for, however often this removal is run.
 */
function finishLeave(course: Course, record: OperationRecord | undefined): Course {
    const { steps, verdict } = course;
    const { object } = verdict ?? {};
    if (record === undefined || object === undefined || !leaveWasOurs(object)) return course;
    if (!isRemoving(record, object.memberId)) return course;
    if (steps.leave === "wait-left") return { ...course, steps: { ...steps, leave: "leave" }, resumes: record };
    return steps.leave === "wait-joined-false" ? { ...course, resumes: record } : course;
}

/** The state as our own interrupted operation left it; undefined where the record does not explain it. */
function resume(
    situation: RemovalSituation,
    { scenario, verdict: computed }: Look,
    record: OperationRecord,
): Pick<Course, "steps" | "verdict"> | undefined {
    if (scenario.scenario === 5 || scenario.scenario === 8) return undefined;
    const base = { drain: false, deleteNode: true, machine: "reset", order: "leave-first" } as const;
    if (situation.role === "worker") {
        return { verdict: undefined, steps: { ...base, leave: "none", deleteObject: false } };
    }
    // Scenario 9 computes no verdict for the matrix, yet an interrupted operation may have left a member.
    const verdict = computed ?? verdictOf(situation);
    const etcd = explainedBy(record, verdict);
    return etcd === undefined ? undefined : { verdict, steps: { ...base, ...etcd } };
}

/** safety.md 4: on a machine that is not ours nothing is written. */
function withinRights({ host, state, cluster }: Situation, course: Course): Course {
    const { ours, why } = isOurs(host, state, cluster.helper);
    if (ours || course.steps.machine === "none") return { ...course, touchesHost: ours };
    return withoutHost(course, `nothing is done on ${host.address}: ${why}`);
}

/**
 * Where the host's etcd may be a second cluster, its member leaves all the same, and its machine stays as it is: the removal ends
 * once k0s is stopped there. Until then the Node stays too, whose kubelet lives.
 */
function withoutDoubt(situation: Situation, course: Course): Course | Refusal {
    const member = course.verdict?.member;
    const doubt = course.steps.machine === "none" ? undefined : doubtOf(situation, member);
    if (doubt === undefined) return course;
    if (member === undefined) return doubt;
    const { steps, ...rest } = withoutHost(course, `${situation.host.address} is not reset: ${doubt.what}`);
    return { ...rest, steps: { ...steps, deleteNode: false }, doubt };
}

function withoutHost(course: Course, note: string): Course {
    return {
        ...course,
        steps: { ...course.steps, machine: "none" },
        touchesHost: false,
        notes: [...course.notes, note],
    };
}

/** Without the host only the cluster's side is done. */
function fromCluster(situation: RemovalSituation): Course | Refusal {
    const { host, role, cluster } = situation;
    // Another machine may have the address now; its own addresses say nothing about the node that was there.
    const alone = { ...situation, host: undefined };
    const verdict = verdictOf(alone);
    const stranger = refuseStranger(situation, verdict);
    const member = role === "worker" || stranger !== undefined ? undefined : verdict.member;
    const life = lifeOf({ node: nodeObject(alone), member }, cluster);
    const course = refuseUnreachable(situation, life) ?? stranger ?? courseWithoutHost(alone, verdict, life);
    if ("what" in course) return course;
    const why =
        host === undefined ? "the host does not answer" : `${host.address} is another machine now (${host.machineId})`;
    return withoutHost(course, `${why}: only the cluster's side is done`);
}

/** The member at the node's address may be somebody else's by now. */
function refuseStranger(situation: RemovalSituation, { member, evidence }: VerdictReport): Refusal | undefined {
    if (member === undefined) return undefined;
    if (situation.role !== "worker") return refuseOthersMember(situation, member, evidence);
    const isOthers = isOfAnotherMachine(member, situation);
    return isOthers ? undefined : refuse("the resource is a worker, the host is not", evidence, "wrong-role");
}

function refuseOthersMember(
    situation: RemovalSituation,
    member: Member,
    evidence: readonly string[],
): Refusal | undefined {
    if (isOwnMember(member, situation)) return undefined;
    const what = `the member at ${situation.peerAddress} is not known to be this node's`;
    const advice =
        "If it is somebody else's controller, nothing of this node is left: `pulumi state delete` forgets it. If it is this " +
        "node's, remove the member as the runbook says, then run again.";
    return { ...refuse(what, evidence, "ghost-member"), advice };
}

/**
 * A k0s that cannot be asked counts as broken: scenario 6 of the document, less what would be done on the machine. Only one that
 * lives is drained first, because its pods end with its kubelet, and that with the leave (safety.md 4).
 */
function courseWithoutHost(situation: RemovalSituation, verdict: VerdictReport, { life }: Life): Course | Refusal {
    const cell = cellFor(6, verdict.verdict, kindOf(situation.role), "remove");
    const record = interruptedOperation(situation);
    const judged = situation.role === "worker" ? undefined : verdict;
    const course = { seen: undefined, verdict: judged, touchesHost: false, notes: [] };
    if (cell.action.kind === "remove") {
        const node = nodeObject(situation);
        const drain = node !== undefined && (node.ready || hasHeartbeat(node, situation.cluster));
        const { steps } = cell.action;
        const order = life === "alive" ? orderOf(steps) : steps.order;
        return finishLeave({ ...course, steps: { ...steps, drain, order } }, record);
    }
    const explained = record === undefined ? undefined : explainedBy(record, verdict);
    if (explained !== undefined && record !== undefined) {
        const steps = { ...explained, drain: false, deleteNode: true, machine: "none", order: "leave-first" } as const;
        return { ...course, steps, resumes: record };
    }
    return refuse(`${verdict.verdict}: ${cell.words}`, verdict.evidence, topicOf(cell), verdict.passing === true);
}

function refuseQuorum(situation: RemovalSituation, { steps, verdict }: Course): Refusal | undefined {
    const member = verdict?.member;
    if (steps.leave !== "leave" || member === undefined) return undefined;
    const { members } = situation.cluster;
    const permission = mayRemove(removalOf(member, members, situation.inputs.minControllers));
    if (permission.ok) return undefined;
    const what = `${describeMember(member)} cannot be removed: ${permission.why}`;
    const refusal = refuse(what, members.map(describeHealth), "quorum");
    return permission.isLimit ? { ...refusal, isLimit: true } : refusal;
}

function refuseStranding(situation: RemovalSituation, { verdict }: Course): Refusal | undefined {
    const { inputs, cluster, peerAddress } = situation;
    // A controller that is dead or gone strands nobody any more.
    if (verdict?.member?.health !== "healthy" || inputs.allowStrandedWorkers) return undefined;
    const own = [peerAddress, inputs.host ?? peerAddress, ...verdict.member.peerHosts];
    const stranded = strandedWorkers(cluster, subjectAddresses(situation), accessWithout(own, situation));
    if (stranded.length === 0) return undefined;
    return {
        ...refuse("workers would lose the API with this controller", stranded, "stranded-workers"),
        advice: NOT_BEGUN_ADVICE,
    };
}

function toPlan(situation: RemovalSituation, course: Course): RemovePlan {
    const { steps, seen, verdict, touchesHost, notes, resumes, doubt } = course;
    const node = nodeObject(situation);
    return {
        kind: "remove",
        steps,
        howToLeave: methodOf(situation, course),
        member: verdict?.member,
        object: verdict?.object,
        node: steps.deleteNode ? node : undefined,
        controlNode: situation.role === "worker" ? undefined : controlNodeObject(situation),
        successor: successorOf(situation),
        touchesHost,
        scenario: seen?.scenario.scenario,
        verdict,
        notes: [
            ...notes,
            ...(touchesHost && steps.machine === "none" ? ["k0s is not installed: nothing is done on the host"] : []),
            ...(node !== undefined && !steps.deleteNode
                ? [`Node ${node.name} stays registered: \`kubectl delete node ${node.name}\` takes it away`]
                : []),
            ...(resumes === undefined ? [] : [`finishing our interrupted operation ${resumes.id} (${resumes.kind})`]),
        ],
        lookAgain: doubt !== undefined || (!isOurOwnLeaving(situation) && mayPass(course)),
        ...defined({ resumes, doubt }),
    };
}

function mayPass({ seen, verdict }: Course): boolean {
    return seen === undefined ? verdict?.passing === true : isPassing(seen);
}

/** A k0s that idles after the leave we asked for looks like one that starts; our record tells that it never will. */
function isOurOwnLeaving(situation: RemovalSituation): boolean {
    const record = interruptedOperation(situation);
    return record !== undefined && record.kind !== "add";
}

function methodOf(situation: RemovalSituation, { verdict, resumes }: Course): LeaveMethod {
    const member = verdict?.member;
    // What was interrupted once is not left to k0s a second time.
    if (member === undefined || resumes !== undefined) return "member-remove";
    return howToLeave({
        ...countVoters(situation.cluster),
        targetIsVoter: !member.learner,
        targetHealthy: !isSilent(situation.targetEtcd) && isResponsive(situation.host, member),
        hasObject: verdict?.object !== undefined,
        era: eraOf(situation.cluster.helper.k0sVersion),
    });
}

/** Its etcd answers, and so does its k0s, which would have to carry the leave out. */
function isResponsive(host: HostFacts | undefined, { health }: Member): boolean {
    return health === "healthy" && (host === undefined || isHealthy(host));
}
