import type { LeaseObject } from "../adapters/kube";
import type { OperationRecord } from "../facts/host";

/** What the operation that holds, or last held, the Lease is about: an OperationRecord as JSON (safety.md 11). */
export const OPERATION_ANNOTATION = "pulumi-mke/operation";
/** What earlier holders left unfinished elsewhere: an array of the same as JSON, the oldest first. */
const UNFINISHED_ANNOTATION = "pulumi-mke/unfinished-operations";

/** Whose operation on which machine: of each there is one record at most, however many others come between. */
export type RecordSubject = Pick<OperationRecord, "owner" | "target">;

/** The record of the operation that holds, or last held, the Lease; undefined: none, or one that cannot be read. */
export function recordIn(lease: LeaseObject): OperationRecord | undefined {
    return parsed(lease, OPERATION_ANNOTATION) as OperationRecord | undefined;
}

/** The record about that machine; where there is none, the latest of all, which may know it by another address. */
export function recordAbout(lease: LeaseObject, subject: RecordSubject): OperationRecord | undefined {
    return recordsIn(lease).find((record) => isAbout(record, subject)) ?? recordIn(lease);
}

export function withRecord(lease: LeaseObject, record: OperationRecord): LeaseObject {
    return withRecords(lease, [...othersIn(lease, record), record]);
}

export function withoutRecord(lease: LeaseObject, subject: RecordSubject): LeaseObject {
    return withRecords(lease, othersIn(lease, subject));
}

function othersIn(lease: LeaseObject, subject: RecordSubject): OperationRecord[] {
    return recordsIn(lease).filter((record) => !isAbout(record, subject));
}

function isAbout({ owner, target }: OperationRecord, subject: RecordSubject): boolean {
    return owner === subject.owner && target === subject.target;
}

/** Oldest first. */
function recordsIn(lease: LeaseObject): OperationRecord[] {
    const earlier = parsed(lease, UNFINISHED_ANNOTATION);
    const latest = recordIn(lease);
    return [
        ...(Array.isArray(earlier) ? (earlier as OperationRecord[]) : []),
        ...(latest === undefined ? [] : [latest]),
    ];
}

/** The latest one stands where versions that knew only one look for it. */
function withRecords(lease: LeaseObject, records: readonly OperationRecord[]): LeaseObject {
    const kept = Object.entries(lease.annotations).filter(([name]) => !OURS.includes(name));
    const latest = records.at(-1);
    const earlier = records.slice(0, -1);
    return {
        ...lease,
        annotations: {
            ...Object.fromEntries(kept),
            ...(latest === undefined ? {} : { [OPERATION_ANNOTATION]: JSON.stringify(latest) }),
            ...(earlier.length === 0 ? {} : { [UNFINISHED_ANNOTATION]: JSON.stringify(earlier) }),
        },
    };
}

const OURS: readonly string[] = [OPERATION_ANNOTATION, UNFINISHED_ANNOTATION];

function parsed({ annotations }: LeaseObject, name: string): unknown {
    try {
        return (JSON.parse(annotations[name] ?? "null") as unknown) ?? undefined;
    } catch {
        return undefined;
    }
}
