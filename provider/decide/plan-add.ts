import { defined } from "../defined";
import type { Member } from "../facts/cluster";
import type { HostFacts, OperationRecord } from "../facts/host";
import { kindOf } from "../inputs";
import { addressesOf, sharedAddresses } from "../address";
import { describeMember } from "./cluster-health";
import { nameCollisions } from "./collisions";
import { refuseForeignContent } from "./directories";
import { isOurs, markerOf, ownership } from "./identity";
import { type AddSteps, cellFor } from "./matrix";
import {
    additionTo,
    annotationOf,
    describeHealth,
    interruptedOperation,
    isPassing,
    isRemoving,
    look,
    type Look,
    refuseCell,
    refuseUnlisted,
    refuseWrongHost,
    verdictOf,
    wasThereBefore,
} from "./plan-common";
import type { AddPlan, RestOfJoin, Situation, Undo } from "./plan-types";
import { mayAdd } from "./quorum";
import { type Refusal, refuse } from "./refusal";
import { hasK0sData, nodeOf, unitOf } from "./scenario";
import { isSilent } from "./silent-etcd";
import { usesGoneController } from "./stranded";
import { isOwnMember } from "./whose-member";

/**
 * What to do to make a host the wanted node, or why not. In order: role, second cluster, scenario, verdict, matrix cell –
 * where the cell fails, our interrupted operation that explains the state –, ownership, names and addresses, quorum.
 */
export function planAdd(situation: Situation): AddPlan | Refusal {
    const wrong = refuseWrongHost(situation);
    if (wrong !== undefined) return wrong;
    const seen = look(situation);
    if (!("scenario" in seen)) return seen;
    const course = refuseUnlisted(situation, seen) ?? chooseCourse(situation, seen);
    if ("what" in course) return course;
    return (
        refuseDoubt(situation, seen) ??
        refuseOthers(situation, course) ??
        refuseQuorum(situation, course) ??
        toPlan(situation, seen, course)
    );
}

/** What is to be done, before anybody's rights and the quorum are looked at. */
interface Course {
    readonly steps: AddPlan["steps"];
    readonly undo?: Undo;
    readonly resumes?: OperationRecord;
}

function chooseCourse(situation: Situation, seen: Look): Course | Refusal {
    const cell = cellFor(seen.scenario.scenario, seen.verdict?.verdict, kindOf(situation.role), "add");
    const record = recordFor(situation);
    if (cell.action.kind === "add") return goOn(situation, seen, cell.action.steps, record);
    const resumed = record === undefined ? undefined : resume(situation, seen, record);
    return resumed ?? refuseCell(cell, seen);
}

/**
 * Our interrupted operation on this machine. A record in the lock names an address only, which may be another machine's by now:
 * what is on a machine is taken back, or gone on with, only where that is provably ours (safety.md 4).
 */
function recordFor(situation: Situation): OperationRecord | undefined {
    const { host, cluster, state, inputs } = situation;
    const isOwn = markerOf(host)?.owner === inputs.owner || isOurs(host, state, cluster.helper).ours;
    return isOwn || !holdsK0s(host) ? interruptedOperation(situation) : undefined;
}

function holdsK0s(host: HostFacts): boolean {
    return unitOf(host) !== undefined || hasK0sData(host);
}

/** A node that our own interrupted join has made is not adopted: what is left of the join is done (safety.md 11). */
function goOn(situation: Situation, seen: Look, steps: AddSteps, record: OperationRecord | undefined): Course {
    if (record?.kind !== "add" || steps.kind === "join") return { steps };
    if (cannotGoOn(situation)) return startOver(situation, record);
    const rest = restOfJoin(situation, seen);
    return rest === undefined ? { steps } : { steps: rest, resumes: record };
}

/** undefined: a controller whose member is not known, which has none to go on with. */
function restOfJoin({ role }: Situation, { verdict }: Look): RestOfJoin | undefined {
    if (role === "worker") return { kind: "continue-worker" };
    return verdict?.member === undefined ? undefined : { kind: "continue-controller", own: verdict.member };
}

/** The controller that the worker was to join through was removed meanwhile, when nobody knew of the worker. */
function cannotGoOn({ role, host, cluster, nodeName, apiAccess = "controllers" }: Situation): boolean {
    if (role !== "worker" || apiAccess !== "controllers" || nodeOf(host, cluster, nodeName)?.ready === true)
        return false;
    return usesGoneController(host, cluster);
}

/** The state as our own interrupted operation left it; undefined where the record does not explain it. */
function resume(situation: Situation, seen: Look, record: OperationRecord): Course | undefined {
    if (seen.scenario.scenario === 5 || seen.scenario.scenario === 8) return undefined;
    const removed = record.kind === "add" ? undefined : afterRemoval(situation, seen, record);
    if (removed !== undefined || record.kind === "remove") return removed;
    return situation.role === "worker" ? startOver(situation, record) : afterJoin(situation, seen, record);
}

/** Our removal got as far as a blank host; the object of the member we removed is all that is left. */
function afterRemoval(situation: Situation, { verdict }: Look, record: OperationRecord): Course | undefined {
    if (holdsK0s(situation.host) || verdict?.member !== undefined || !isRemoving(record, verdict?.object?.memberId))
        return undefined;
    return { steps: { kind: "join", cleanStaleObject: true }, resumes: record };
}

/** A join goes on by itself once its etcd was started; before that only taking it back and joining anew helps. */
function afterJoin(situation: Situation, seen: Look, record: OperationRecord): Course | undefined {
    // Scenario 9 computes no verdict for the matrix, yet a half-done join may have left a member.
    const verdict = seen.verdict ?? verdictOf(situation);
    if (verdict.member === undefined)
        return verdict.verdict === "VerdictClean" ? startOver(situation, record) : undefined;
    if (wasThereBefore(record, verdict.member) || isTaken(verdict.member, situation)) return undefined;
    const isStarted = verdict.member.name !== "" && situation.host.data.etcdDatabase;
    if (isStarted && unitOf(situation.host) !== undefined) {
        // In scenario 9 nothing of it can be trusted, and nothing of it goes on by itself.
        const rest = restOfJoin(situation, seen);
        return rest === undefined ? undefined : { steps: rest, resumes: record };
    }
    const { undo, ...course } = startOver(situation, record);
    return { ...course, undo: { ...undo, member: verdict.member } };
}

/** One that has started is taken back, or gone on with, only where it is provably ours: the address may be another's by now. */
function isTaken(member: Member, situation: Situation): boolean {
    return (
        member.name !== "" &&
        markerOf(situation.host)?.owner !== situation.inputs.owner &&
        !isOwnMember(member, situation)
    );
}

function startOver({ host }: Situation, record: OperationRecord): Course & { readonly undo: Undo } {
    return { steps: { kind: "join", cleanStaleObject: false }, undo: { resetHost: holdsK0s(host) }, resumes: record };
}

/** An etcd that hangs may be a second cluster's: a removal may get by without knowing, an add does not (safety.md 2, 9). */
function refuseDoubt({ targetEtcd }: Situation, { verdict }: Look): Refusal | undefined {
    if (!isSilent(targetEtcd) || verdict?.member?.health === "healthy") return undefined;
    const evidence = [`its etcd runs, and does not say which cluster it serves: ${targetEtcd.hangs}`];
    return refuse("its own etcd does not answer", evidence, "broken-installation", true);
}

function refuseOthers(situation: Situation, { steps }: Course): Refusal | undefined {
    const { host, cluster, nodeName } = situation;
    const owned = ownershipOf(situation);
    // On a blank machine there is nothing to adopt, but a mark still says that somebody else counts on it.
    const matters = steps.kind !== "join" || owned.whose === "other";
    if (matters && owned.decision === "refuse") return refuseOwner(owned);
    const misnamed = steps.kind === "restart" ? refuseOtherName(situation) : undefined;
    if (misnamed !== undefined) return misnamed;
    const collisions = [
        ...nameCollisions(host, cluster, nodeName),
        ...(steps.kind === "join" ? copiedFrom(situation) : []),
    ];
    if (collisions.length > 0) return refuse(`the name ${nodeName} is taken`, collisions, "name-taken");
    const foreign = steps.kind === "join" ? refuseForeignContent(host) : undefined;
    if (foreign !== undefined) return foreign;
    const node = nodeOf(host, cluster, nodeName);
    if (steps.kind !== "join" || node?.ready !== true || node.machineId === host.machineId) return undefined;
    // The address is this host's, the machine is not; a Node whose kubelet is gone turns NotReady within a minute.
    const evidence = [`Node ${nodeName} is Ready on machine ${node.machineId}`];
    return refuse(`the name ${nodeName} is taken`, evidence, "name-taken", true);
}

function refuseOwner({ why, advice }: AddPlan["ownership"]): Refusal {
    return { ...refuse(`the node is not ours: ${why}`, [], "other-owner"), ...defined({ advice }) };
}

/** A copied disk brings name and machine id along: the Node at another address is that of the machine it was copied from. */
function copiedFrom({ host, cluster, nodeName, state }: Situation): string[] {
    const node = nodeOf(host, cluster, nodeName);
    if (node === undefined || node.addresses.length === 0) return [];
    if (sharedAddresses(node.addresses, addressesOf(host)).length > 0) return [];
    const isOwn = state?.token !== undefined && annotationOf(node)?.token === state.token;
    return isOwn && !node.ready ? [] : [`Node ${node.name} belongs to the machine at ${node.addresses.join(", ")}`];
}

/** A node that is registered under another name is not mended by a restart: the name is what is wrong. */
function refuseOtherName({ host, cluster, nodeName }: Situation): Refusal | undefined {
    const addresses = addressesOf(host);
    const own = cluster.nodes.find(
        (node) => node.machineId === host.machineId && sharedAddresses(node.addresses, addresses).length > 0,
    );
    if (own === undefined || own.name === nodeName || host.machineId === "") return undefined;
    const evidence = [`k0s runs on it, and Node ${own.name} is this machine's; to adopt it: nodeName: "${own.name}"`];
    return refuse(`this machine is Node ${own.name}, not ${nodeName}`, evidence, "name-taken");
}

function ownershipOf({ host, cluster, nodeName, state, inputs }: Situation): AddPlan["ownership"] {
    return ownership(markerOf(host), annotationOf(nodeOf(host, cluster, nodeName)), {
        owner: inputs.owner,
        adopt: inputs.adopt,
        ...defined({ token: state?.token }),
    });
}

function refuseQuorum(situation: Situation, { steps, undo }: Course): Refusal | undefined {
    if (situation.role === "worker" || steps.kind !== "join") return undefined;
    const { inputs } = situation;
    const members = situation.cluster.members.filter((member) => member.id !== undo?.member?.id);
    const unstarted = members.filter((member) => member.name === "");
    if (unstarted.length > 0) {
        const ghosts = unstarted.map(describeMember).join(", ");
        return refuse(`etcd member ${ghosts} was added and never started`, members.map(describeHealth), "ghost-member");
    }
    const permission = mayAdd(additionTo(members, inputs.maxControllers));
    if (permission.ok) return undefined;
    const refusal = refuse(permission.why, members.map(describeHealth), "quorum");
    return permission.isLimit ? { ...refusal, isLimit: true } : refusal;
}

function toPlan(situation: Situation, seen: Look, { steps, undo, resumes }: Course): AddPlan {
    return {
        kind: "add",
        steps,
        scenario: seen.scenario.scenario,
        verdict: seen.verdict,
        ownership: ownershipOf(situation),
        notes: resumes === undefined ? [] : [`resuming our interrupted operation ${resumes.id} (${resumes.kind})`],
        // What is to be taken back goes on only where k0s still starts.
        lookAgain: undo === undefined ? isPassing(seen) : seen.scenario.passing,
        ...defined({ undo, resumes }),
    };
}
