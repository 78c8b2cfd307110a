import type { OperationRecord } from "../facts/host";
import { nameCollisions } from "./collisions";
import { markerOf, ownership } from "./identity";
import { type AddSteps, cellFor } from "./matrix";
import {
    annotationOf,
    countVoters,
    describeHealth,
    interruptedOperation,
    isPassing,
    isRemoving,
    kindOf,
    look,
    type Look,
    refuseCell,
    refuseUnlisted,
    refuseWrongHost,
    verdictOf,
    wasThereBefore,
} from "./plan-common";
import type { AddPlan, Situation, Undo } from "./plan-types";
import { mayAdd } from "./quorum";
import { type Refusal, refuse } from "./refusal";
import { hasK0sData, nodeOf, unitOf } from "./scenario";

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
        refuseDoubt(situation) ??
        refuseOthers(situation, course) ??
        refuseQuorum(situation, course) ??
        toPlan(situation, seen, course)
    );
}

/** What is to be done, before anybody's rights and the quorum are looked at. */
interface Course {
    readonly steps: AddSteps;
    readonly undo?: Undo;
    readonly resumes?: OperationRecord;
}

function chooseCourse(situation: Situation, seen: Look): Course | Refusal {
    const cell = cellFor(seen.scenario.scenario, seen.verdict?.verdict, kindOf(situation.role), "add");
    if (cell.action.kind === "add") return { steps: cell.action.steps };
    const record = interruptedOperation(situation);
    const resumed = record === undefined ? undefined : resume(situation, seen, record);
    return resumed ?? refuseCell(cell, seen);
}

/** The state as our own interrupted operation left it; undefined where the record does not explain it. */
function resume(situation: Situation, seen: Look, record: OperationRecord): Course | undefined {
    if (seen.scenario.scenario === 5 || seen.scenario.scenario === 8) return undefined;
    if (record.kind === "remove") return afterRemoval(situation, seen, record);
    return situation.role === "worker" ? startOver(situation, record) : afterJoin(situation, seen, record);
}

/** Our removal got as far as a blank host; the object of the member we removed is all that is left. */
function afterRemoval(situation: Situation, { verdict }: Look, record: OperationRecord): Course | undefined {
    const isBlank = unitOf(situation.host) === undefined && !hasK0sData(situation.host);
    if (!isBlank || verdict?.member !== undefined || !isRemoving(record, verdict?.object?.memberId)) return undefined;
    return { steps: { kind: "join", cleanStaleObject: true }, resumes: record };
}

/** A join goes on by itself once its etcd was started; before that only taking it back and joining anew helps. */
function afterJoin(situation: Situation, seen: Look, record: OperationRecord): Course | undefined {
    // Scenario 9 computes no verdict for the matrix, yet a half-done join may have left a member.
    const verdict = seen.verdict ?? verdictOf(situation);
    if (verdict.member === undefined)
        return verdict.verdict === "VerdictClean" ? startOver(situation, record) : undefined;
    if (wasThereBefore(record, verdict.member)) return undefined;
    const isStarted = verdict.member.name !== "" && situation.host.data.etcdDatabase;
    if (isStarted && unitOf(situation.host) !== undefined) {
        return { steps: { kind: "continue", cleanStaleObject: false }, resumes: record };
    }
    const { undo, ...course } = startOver(situation, record);
    return { ...course, undo: { ...undo, member: verdict.member } };
}

function startOver({ host }: Situation, record: OperationRecord): Course & { readonly undo: Undo } {
    const resetHost = unitOf(host) !== undefined || hasK0sData(host);
    return { steps: { kind: "join", cleanStaleObject: false }, undo: { resetHost }, resumes: record };
}

/** A hung etcd may be a second cluster's: a removal gets by without knowing, an add does not (safety.md 2). */
function refuseDoubt({ targetEtcd }: Situation): Refusal | undefined {
    if (targetEtcd !== "hangs") return undefined;
    const evidence = ["its etcd runs, and does not say which cluster it serves"];
    return refuse("its own etcd does not answer", evidence, "broken-installation", true);
}

function refuseOthers(situation: Situation, { steps }: Course): Refusal | undefined {
    const { host, cluster, nodeName } = situation;
    const owned = ownershipOf(situation);
    // On a blank machine there is nothing to adopt, but a mark still says that somebody else counts on it.
    const matters = steps.kind !== "join" || owned.whose === "other";
    if (matters && owned.decision === "refuse") return refuse(`the node is not ours: ${owned.why}`, [], "other-owner");
    const collisions = nameCollisions(host, cluster, nodeName);
    if (collisions.length > 0) return refuse(`the name ${nodeName} is taken`, collisions, "name-taken");
    if (steps.kind === "join" && host.data.foreign.length > 0) {
        const found = `${host.data.dir} holds ${host.data.foreign.join(", ")}`;
        return refuse("the data directory holds what neither k0s nor we put there", [found], "broken-installation");
    }
    const node = nodeOf(host, cluster, nodeName);
    if (steps.kind !== "join" || node?.ready !== true || node.machineId === host.machineId) return undefined;
    // The address is this host's, the machine is not; a Node whose kubelet is gone turns NotReady within a minute.
    const evidence = [`Node ${nodeName} is Ready on machine ${node.machineId}`];
    return refuse(`the name ${nodeName} is taken`, evidence, "name-taken", true);
}

function ownershipOf({ host, cluster, nodeName, state, inputs }: Situation): AddPlan["ownership"] {
    return ownership(markerOf(host), annotationOf(nodeOf(host, cluster, nodeName)), {
        owner: inputs.owner,
        adopt: inputs.adopt,
        ...(state?.token === undefined ? {} : { token: state.token }),
    });
}

function refuseQuorum(situation: Situation, { steps, undo }: Course): Refusal | undefined {
    if (situation.role === "worker" || steps.kind !== "join") return undefined;
    const { inputs } = situation;
    const members = situation.cluster.members.filter((member) => member.id !== undo?.member?.id);
    const permission = mayAdd({
        ...countVoters({ members }),
        learners: members.filter((member) => member.learner).length,
        unstarted: members.filter((member) => member.name === "").length,
        maxControllers: inputs.maxControllers,
    });
    return permission.ok ? undefined : refuse(permission.why, members.map(describeHealth), "quorum");
}

function toPlan(situation: Situation, seen: Look, { steps, undo, resumes }: Course): AddPlan {
    return {
        kind: "add",
        steps,
        scenario: seen.scenario.scenario,
        verdict: seen.verdict,
        ownership: ownershipOf(situation),
        notes: resumes === undefined ? [] : [`resuming our interrupted operation ${resumes.id} (${resumes.kind})`],
        lookAgain: isPassing(seen),
        ...(undo === undefined ? {} : { undo }),
        ...(resumes === undefined ? {} : { resumes }),
    };
}
