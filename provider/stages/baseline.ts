import { RefusedError } from "../errors";
import { memberIdToHex } from "../facts/cluster";
import type { Operation } from "../pipelines/operation";

/**
 * Immediately before a call that cannot be undone: the lock is still ours, and the members are those the decision was made
 * on (safety.md 7, 14).
 */
export async function proveUnchanged(operation: Operation, stage: string): Promise<void> {
    await operation.held.prove();
    const { members } = await operation.cluster.etcd.members();
    const now = ids(members);
    const then = ids(operation.clusterFacts.members);
    if (now === then) return;
    throw new RefusedError({
        stage,
        host: operation.inputs.host,
        what: `the etcd members changed since the decision was made: ${then} then, ${now} now`,
        advice: "Somebody else changes this cluster. Nothing was done; run again when they have finished.",
    });
}

function ids(members: readonly { readonly id: bigint }[]): string {
    return members
        .map((member) => memberIdToHex(member.id))
        .sort()
        .join(", ");
}
