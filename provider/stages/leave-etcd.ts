import type { Host } from "../adapters/host";
import { connectEtcd } from "../adapters/etcd/client";
import { LEAVE_ANNOTATION, LEAVE_OPERATION_ANNOTATION } from "../decide/etcd-verdict";
import { type Deadline, type Look, waitFor } from "../deadline";
import { RefusedError } from "../errors";
import { type EtcdMemberObject, type Member, memberIdToHex } from "../facts/cluster";
import { readMembers } from "../facts/members";
import type { Operation } from "./operation";
import { nothingToDo, type Outcome } from "./stage";
import { proveRemovable } from "./baseline";

const STAGE = "leaving etcd";
/** A leave that k0s carries out takes 2–12 s (observed.md); one not done by then is stuck or was revoked. */
const STUCK_AFTER = 60_000;

/** Moves etcd leadership to the helper if the target has it: without that the API stalled for 7 s (observed.md). */
export async function moveLeadership(
    { cluster, inputs }: Operation,
    target: Host,
    member: Member,
    deadline: Deadline,
): Promise<Outcome> {
    const { leaderId } = await cluster.etcd.status();
    if (leaderId !== member.id) return nothingToDo("the target is not the leader");
    const etcd = await connectEtcd(target, inputs.dataDir, deadline);
    try {
        await etcd.moveLeader(cluster.helperFacts.memberId);
    } finally {
        etcd.close();
    }
    await waitFor<true>({
        stage: "moving etcd leadership",
        host: target.address,
        deadline,
        seesItThrough: true,
        look: async () => {
            const now = (await cluster.etcd.status()).leaderId;
            return now !== undefined && now !== member.id ? { done: true } : { seen: "it is still the leader" };
        },
    });
    return `${cluster.helper.address} leads now`;
}

/** Asks k0s to take the member out and watches etcd, which alone proves it; a revoked or stuck leave is finished by ID. */
export async function leaveBySpec(
    operation: Operation,
    member: Member,
    object: EtcdMemberObject,
    deadline: Deadline,
): Promise<Outcome> {
    await proveRemovable(operation, STAGE, member.id, "spec-leave");
    await requestLeave(operation, object, member.id);
    // Half of a shorter limit: the removal by ID needs time too.
    const stuckAt = deadline.within(Math.min(STUCK_AFTER, deadline.remaining / 2));
    const end = await waitFor<"left" | "revoked" | "stuck">({
        stage: STAGE,
        host: operation.inputs.host,
        deadline,
        look: () => lookForLeave(operation, member, stuckAt),
        seesItThrough: true,
    });
    if (end === "left") return `member ${memberIdToHex(member.id)} left`;
    await removeById(operation, member, deadline);
    return `member ${memberIdToHex(member.id)} removed by ID, because its own leave was ${end}`;
}

async function requestLeave(operation: Operation, object: EtcdMemberObject, memberId: bigint): Promise<void> {
    const change = { leave: true, annotations: leaveAnnotations(operation, memberId) };
    await operation.cluster.kube.patchEtcdMember(object.name, object.uid, change);
}

/** Whose leave it is, of which member: what a later look tells our interrupted removal by (safety.md 11). */
function leaveAnnotations({ id }: Operation, memberId: bigint): Readonly<Record<string, string>> {
    return { [LEAVE_ANNOTATION]: memberIdToHex(memberId), [LEAVE_OPERATION_ANNOTATION]: id };
}

async function lookForLeave(
    operation: Operation,
    member: Member,
    stuckAt: Deadline,
): Promise<Look<"left" | "revoked" | "stuck">> {
    if (!(await isMember(operation, member.id))) return { done: "left" };
    const object = (await operation.cluster.kube.etcdMembers()).find((candidate) => candidate.memberId === member.id);
    // A controller that restarts while it is still a member takes its own leave back (k0s#8141, observed in 1.36.3).
    if (object !== undefined && !object.leave) return { done: "revoked" };
    if (stuckAt.expired) return { done: "stuck" };
    return { seen: `member ${memberIdToHex(member.id)} is still in etcd` };
}

/**
 * Takes the member out through the helper, by ID, then tells k0s so that its object follows (safety.md 10). The object says
 * first whose removal this is: killed in between, nothing but that would tell it from somebody else's.
 */
export async function leaveById(
    operation: Operation,
    member: Member,
    object: EtcdMemberObject | undefined,
    deadline: Deadline,
): Promise<Outcome> {
    if (object !== undefined) {
        await proveRemovable(operation, STAGE, member.id, "member-remove");
        const annotations = leaveAnnotations(operation, member.id);
        await changeObject(operation, deadline, () =>
            operation.cluster.kube.patchEtcdMember(object.name, object.uid, { annotations }),
        );
    }
    await removeById(operation, member, deadline);
    if (object !== undefined) await changeObject(operation, deadline, () => requestLeave(operation, object, member.id));
    return `member ${memberIdToHex(member.id)} removed by ID`;
}

/** The API may answer with errors for some seconds after a leader was removed (observed.md). */
async function changeObject(operation: Operation, deadline: Deadline, change: () => Promise<void>): Promise<void> {
    await waitFor<true>({
        stage: STAGE,
        host: operation.inputs.host,
        deadline,
        seesItThrough: true,
        look: async () => {
            // Without the lock its host may have joined again, and that member would be asked to leave.
            await operation.held.prove();
            await change();
            return { done: true };
        },
    });
}

async function removeById(operation: Operation, member: Member, deadline: Deadline): Promise<void> {
    await proveRemovable(operation, STAGE, member.id, "member-remove");
    let isAsked = false;
    await waitFor<true>({
        stage: STAGE,
        host: operation.inputs.host,
        deadline,
        seesItThrough: true,
        look: async () => {
            // Its answer may have got lost; and this process may have slept since, and with it the lock.
            if (isAsked && !(await isMember(operation, member.id))) return { done: true };
            if (isAsked) await proveRemovable(operation, STAGE, member.id, "member-remove");
            isAsked = true;
            await operation.cluster.etcd.removeMember(member.id);
            return (await isMember(operation, member.id)) ? { seen: "etcd still lists the member" } : { done: true };
        },
    });
}

/** A member that was added for our own join and never started; nobody loses anything by its going (safety.md 8). */
export async function removeUnstarted(operation: Operation, member: Member, deadline: Deadline): Promise<Outcome> {
    await removeById(operation, member, deadline);
    return memberIdToHex(member.id);
}

/** A leave that was asked for before is only waited for; it ends without the state only as a failure. */
export async function waitUntilLeft(operation: Operation, member: Member, deadline: Deadline): Promise<Outcome> {
    await waitFor<true>({
        stage: "waiting for the member to leave",
        host: operation.inputs.host,
        deadline,
        topic: "leave-in-progress",
        look: async () =>
            (await isMember(operation, member.id))
                ? { seen: `member ${memberIdToHex(member.id)} is still in etcd` }
                : { done: true },
    });
}

async function isMember({ cluster }: Operation, id: bigint): Promise<boolean> {
    return (await readMembers(cluster)).some((member) => member.id === id);
}

/** The truth once more before anything of the host goes: the ID is not in etcd, seen from a survivor. */
export async function proveLeft(operation: Operation, id: bigint): Promise<void> {
    if (!(await isMember(operation, id))) return;
    throw new RefusedError({
        stage: "resetting",
        host: operation.inputs.host,
        what: `member ${memberIdToHex(id)} is still in etcd; resetting its host would leave a ghost`,
        topic: "leave-in-progress",
    });
}
