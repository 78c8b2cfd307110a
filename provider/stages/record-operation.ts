import type { Deadline } from "../deadline";
import { defined } from "../defined";
import { memberIdToHex } from "../facts/cluster";
import { givenFlags } from "../decide/flag-drift";
import { markerOf } from "../decide/identity";
import { OtherMachineError } from "../errors";
import type { HostMarker, OperationRecord, PutOnHost } from "../facts/host";
import type { HostOperation, Machine, Operation } from "./operation";
import type { Outcome } from "./stage";

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
    const { progress } = operation;
    if (record === undefined) await takeOverRecord(operation);
    const wasChanged = progress.hostChanged;
    // Where the end of the writing is not seen, the marker may be there.
    progress.hostChanged = true;
    const put = putOn(operation);
    try {
        await operation.target.writeMarker(markerFor(operation, record, put), deadline);
    } catch (error) {
        if (error instanceof OtherMachineError) progress.hostChanged = wasChanged;
        throw error;
    }
    progress.marked = { record, put };
}

function markerFor(
    operation: HostOperation,
    record: OperationRecord | undefined,
    put: PutOnHost | undefined,
): HostMarker {
    const { inputs, cluster, hostFacts } = operation;
    const flags = flagsOf(operation);
    return {
        version: 1,
        owner: inputs.owner,
        token: operation.token,
        role: operation.kind,
        nodeName: operation.nodeName,
        clusterId: cluster.helperFacts.clusterId,
        machineId: hostFacts.machineId,
        ...defined({ operation: record, put }),
        ...(flags.length === 0 ? {} : { flags }),
    };
}

/** Those of another owner, or of an earlier node on this host, are none of ours. */
function flagsOf({ progress, hostFacts, token }: HostOperation): readonly string[] {
    const marker = markerOf(hostFacts);
    return progress.flags ?? (marker?.token === token ? marker.flags : undefined) ?? [];
}

/** For the next marker: what of the program's flags its service has by now, so that a later look sees what was taken out. */
export async function noteFlags({ target, kind, inputs, progress }: HostOperation, deadline: Deadline): Promise<void> {
    const { dataDir, k0s, installFlags } = inputs;
    if (installFlags.length === 0) return void (progress.flags = []);
    const { units } = await target.probe({ dataDir, k0sPath: k0s.installPath }, deadline);
    progress.flags = givenFlags(units[kind]?.args ?? [], installFlags);
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
