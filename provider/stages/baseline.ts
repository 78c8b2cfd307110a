import { Deadline } from "../deadline";
import { eraOf } from "../decide/era";
import { additionTo, describeHealth, removalOf } from "../decide/plan-common";
import { howToLeave, type LeaveMethod, mayAdd, mayRemove, type Permission } from "../decide/quorum";
import { RefusedError } from "../errors";
import { type ClusterFacts, type Member, memberIdToHex } from "../facts/cluster";
import { readCluster } from "../facts/cluster-view";
import type { Operation } from "./operation";

const LOOK_SECONDS = 30;

/**
 * Immediately before a call that cannot be undone: the lock is still ours, and the members are those the decision was made
 * on (safety.md 7, 14). Answers what was seen, with the health of each member as it is now.
 */
export async function proveUnchanged(operation: Operation, stage: string): Promise<ClusterFacts> {
    const { held, cluster } = operation;
    await held.prove();
    const facts = await readCluster(cluster, { lease: held.lease }, Deadline.afterSeconds(LOOK_SECONDS));
    // Looking takes a while, in which this process may have been asleep.
    await held.prove();
    const now = ids(facts.members);
    const then = ids(operation.clusterFacts.members);
    if (now === then) return facts;
    throw new RefusedError({
        stage,
        host: operation.inputs.host,
        what: `the etcd members changed since the decision was made: ${then} then, ${now} now`,
        advice: "Somebody else is changing this cluster. etcd was not touched; run again when they have finished.",
    });
}

/**
 * The same, and quorum once more: between the decision and the leave lies a drain of minutes, in which another controller
 * may have died (safety.md 8).
 */
export async function proveRemovable(
    operation: Operation,
    stage: string,
    id: bigint,
    method: LeaveMethod,
): Promise<void> {
    const { members } = await proveUnchanged(operation, stage);
    const member = members.find((candidate) => candidate.id === id);
    if (member === undefined) return;
    const removal = removalOf(member, members, operation.inputs.cluster.minControllers);
    demand(operation, stage, members, mayRemove(removal));
    const era = eraOf(operation.cluster.helperFacts.k0sVersion);
    if (method === "member-remove" || howToLeave({ ...removal, era, hasObject: true }) === method) return;
    demand(operation, stage, members, { ok: false, why: "etcd could not commit the removal if it stopped first" });
}

/** A join needs every member healthy at the moment it starts. */
export async function proveJoinable(operation: Operation, stage: string): Promise<void> {
    const { members } = await proveUnchanged(operation, stage);
    const { maxControllers } = operation.inputs.cluster;
    demand(operation, stage, members, mayAdd(additionTo(members, maxControllers)));
}

function demand({ inputs }: Operation, stage: string, members: readonly Member[], permission: Permission): void {
    if (permission.ok) return;
    throw new RefusedError({
        stage,
        host: inputs.host,
        what: permission.why,
        output: members.map(describeHealth).join("\n"),
        advice: "This changed while the operation was under way. etcd was not touched; run again once all members are healthy.",
        topic: "quorum",
    });
}

function ids(members: readonly { readonly id: bigint }[]): string {
    return members
        .map((member) => memberIdToHex(member.id))
        .sort()
        .join(", ");
}
