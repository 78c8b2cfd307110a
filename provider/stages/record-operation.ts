import type { Deadline } from "../deadline";
import { memberIdToHex } from "../facts/cluster";
import type { OperationRecord } from "../facts/host";
import type { HostOperation, Operation } from "../pipelines/operation";
import type { Outcome } from "../pipelines/stage";

/**
 * Writes what is about to happen into the lock before the first change, so that a killed operation is recognised as ours
 * and finished or undone by the next one (safety.md 11).
 */
export async function recordInLock(operation: Operation, record: OperationRecord): Promise<Outcome> {
    await operation.held.record(record);
}

/** What an interrupted operation on this very node left in the lock is ours to end: it goes from the lock when we succeed. */
async function takeOverRecord({ held, inputs }: Operation): Promise<void> {
    const { found } = held;
    if (found?.owner === inputs.owner && found.target === inputs.host) await held.record(found);
}

/**
 * The same into the host's marker, with owner and token: from here on the machine is ours (safety.md 4, 6). Without a record
 * the operation has done all it was about, and so is whatever was interrupted before it.
 */
export async function markHost(
    operation: HostOperation,
    record: OperationRecord | undefined,
    deadline: Deadline,
): Promise<Outcome> {
    const { inputs, cluster, hostFacts, progress } = operation;
    if (record === undefined) await takeOverRecord(operation);
    progress.hostChanged = true;
    await operation.target.writeMarker(
        {
            version: 1,
            owner: inputs.owner,
            token: operation.token,
            role: operation.kind,
            nodeName: operation.nodeName,
            clusterId: cluster.helperFacts.clusterId,
            machineId: hostFacts.machineId,
            ...(record === undefined ? {} : { operation: record }),
        },
        deadline,
    );
}

export function recordOf(operation: Operation, kind: OperationRecord["kind"], removing?: bigint): OperationRecord {
    return {
        id: operation.id,
        kind,
        owner: operation.inputs.owner,
        target: operation.inputs.host,
        baseline: operation.clusterFacts.members.map((member) => memberIdToHex(member.id)),
        ...(removing === undefined ? {} : { removing: memberIdToHex(removing) }),
    };
}
