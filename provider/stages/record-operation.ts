import type { Deadline } from "../deadline";
import { memberIdToHex } from "../facts/cluster";
import { markerOf } from "../decide/identity";
import type { OperationRecord, PutOnHost } from "../facts/host";
import type { HostOperation, Machine, Operation } from "../pipelines/operation";
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
    const put = putOn(operation);
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
            ...(put === undefined ? {} : { put }),
        },
        deadline,
    );
    progress.marked = { record, put };
}

/** What we put on the host so far, in this operation or before it. */
export function putOn({ progress, hostFacts }: Machine): PutOnHost | undefined {
    return progress.marked === undefined ? markerOf(hostFacts)?.put : progress.marked.put;
}

/**
 * Notes in the marker what is about to be put on the host, so that it is found and taken away again whatever happens now.
 * Nothing is written where all of it is noted already.
 */
export async function notePut(operation: HostOperation, more: Partial<PutOnHost>, deadline: Deadline): Promise<void> {
    const before = putOn(operation) ?? NOTHING_PUT;
    const put = {
        files: union(before.files, more.files),
        directories: union(before.directories, more.directories),
        selinux: union(before.selinux, more.selinux),
        units: union(before.units, more.units),
    };
    if (JSON.stringify(put) === JSON.stringify(before)) return;
    const { progress, hostFacts } = operation;
    const record = progress.marked === undefined ? markerOf(hostFacts)?.operation : progress.marked.record;
    progress.marked = { record, put };
    await markHost(operation, record, deadline);
}

const NOTHING_PUT: PutOnHost = { files: [], directories: [], selinux: [], units: [] };

function union(before: readonly string[], more: readonly string[] = []): string[] {
    return [...before, ...more.filter((item) => !before.includes(item))];
}

export function recordOf(operation: Operation, kind: OperationRecord["kind"], removing?: bigint): OperationRecord {
    return {
        id: operation.id,
        kind,
        owner: operation.inputs.owner,
        target: operation.inputs.host,
        nodeName: operation.nodeName,
        baseline: operation.clusterFacts.members.map((member) => memberIdToHex(member.id)),
        ...(removing === undefined ? {} : { removing: memberIdToHex(removing) }),
    };
}
