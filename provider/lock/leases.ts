import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { LeaseObject, NewLease } from "../adapters/kube";
import type { OperationRecord } from "../facts/host";
import type { LockClock } from "./timing";

export const LOCK_NAMESPACE = "kube-system";
export const CONTROL_PLANE_LEASE = "pulumi-mke-control-plane";
export const LOCK_LABEL = "app.kubernetes.io/managed-by";
export const LOCK_LABEL_VALUE = "pulumi-mke";
/** What the operation that holds, or last held, the Lease is about: an OperationRecord as JSON (safety.md 11). */
export const OPERATION_ANNOTATION = "pulumi-mke/operation";
/** Which process holds it. */
export const PROCESS_ANNOTATION = "pulumi-mke/process";
/** The same for people: machine and process id. */
export const PLACE_ANNOTATION = "pulumi-mke/held-from";

/** What is locked: the control plane, or one node by its name. */
export type LockKind = { readonly controlPlane: true } | { readonly node: string };

const PROCESS_ID = randomUUID();
const RANDOM_BYTES = 6;

/** Holders of this process whose operations are still running. */
const living = new Set<string>();

export function leaseNameOf(kind: LockKind): string {
    return "node" in kind ? `pulumi-mke-node-${kind.node}` : CONTROL_PLANE_LEASE;
}

/** A holder identity that no other operation has. */
export function newHolder(owner: string): string {
    return `${owner}/${randomBytes(RANDOM_BYTES).toString("hex")}`;
}

export function markLiving(holder: string): void {
    living.add(holder);
}

export function markEnded(holder: string): void {
    living.delete(holder);
}

export function newLease(kind: LockKind, holder: string, durationSeconds: number): NewLease {
    return {
        namespace: LOCK_NAMESPACE,
        name: leaseNameOf(kind),
        holder,
        durationSeconds,
        labels: { [LOCK_LABEL]: LOCK_LABEL_VALUE },
        annotations: processAnnotations(),
    };
}

/** The Lease of an earlier holder, taken over. Its operation record stays: it tells what was interrupted. */
export function takenOver(lease: LeaseObject, holder: string, durationSeconds: number, now: string): LeaseObject {
    return {
        ...lease,
        holder,
        durationSeconds,
        acquireTime: now,
        labels: { ...lease.labels, [LOCK_LABEL]: LOCK_LABEL_VALUE },
        annotations: { ...lease.annotations, ...processAnnotations() },
    };
}

export function withRecord(lease: LeaseObject, record: OperationRecord): LeaseObject {
    return { ...lease, annotations: { ...lease.annotations, [OPERATION_ANNOTATION]: JSON.stringify(record) } };
}

/** undefined: none, or one that cannot be read. */
export function recordIn(lease: LeaseObject): OperationRecord | undefined {
    try {
        const record = JSON.parse(lease.annotations[OPERATION_ANNOTATION] ?? "null") as OperationRecord | null;
        return record ?? undefined;
    } catch {
        return undefined;
    }
}

/** True for a Lease that this process holds for an operation of its own that still runs. */
export function isHeldHere(lease: LeaseObject): boolean {
    return lease.annotations[PROCESS_ANNOTATION] === PROCESS_ID && living.has(lease.holder);
}

/** True for a Lease that nobody holds: released, or left by an ended operation of this very process. */
export function isFree(lease: LeaseObject): boolean {
    return lease.holder === "" || (lease.annotations[PROCESS_ANNOTATION] === PROCESS_ID && !living.has(lease.holder));
}

/**
 * Does that Lease keep us from taking ours? One node against another never; a node against the control plane only between
 * processes, because within one they queue where they must.
 */
export function conflicts(kind: LockKind, lease: LeaseObject): boolean {
    if (lease.name === leaseNameOf(kind) || isFree(lease) || isHeldHere(lease)) return false;
    return !("node" in kind) || lease.name === CONTROL_PLANE_LEASE;
}

/**
 * Judges expiry by our own clock: a Lease is over when it was seen unchanged for as long as it lives. An earlier run of our
 * own stack is over after the normal life, however long it had stretched its Lease: Pulumi runs one update of a stack at a
 * time, so that run was killed, and whoever still lives renews. It loses nothing by it: it proves its lock before it acts.
 */
export class LeaseObserver {
    private readonly seen = new Map<string, { readonly version: string; readonly since: number }>();

    constructor(
        private readonly clock: LockClock,
        private readonly own: { readonly holder: string; readonly durationSeconds: number },
    ) {}

    isExpired(lease: LeaseObject): boolean {
        const version = `${lease.uid} ${lease.holder} ${lease.renewTime}`;
        const before = this.seen.get(lease.name);
        const since = before?.version === version ? before.since : this.clock.monotonic();
        this.seen.set(lease.name, { version, since });
        return this.clock.monotonic() - since >= this.lifeOf(lease) && before !== undefined;
    }

    /**
     * The moment, on our clock, when a Lease that is not renewed any more is over; undefined for one whose holder may just be
     * between two renewals.
     */
    endOf(lease: LeaseObject): number | undefined {
        const since = this.seen.get(lease.name)?.since;
        const isAbandoned = since !== undefined && this.clock.monotonic() - since > this.own.durationSeconds * 1000;
        return isAbandoned ? since + this.lifeOf(lease) : undefined;
    }

    /** Milliseconds. */
    private lifeOf({ holder, durationSeconds }: LeaseObject): number {
        const isOurStack = stackOf(holder) === stackOf(this.own.holder);
        return (isOurStack ? Math.min(durationSeconds, this.own.durationSeconds) : durationSeconds) * 1000;
    }
}

/** organisation/project/stack, of a holder made by `newHolder`. */
function stackOf(holder: string): string {
    return holder.split("/").slice(0, 3).join("/");
}

function processAnnotations(): Record<string, string> {
    return { [PROCESS_ANNOTATION]: PROCESS_ID, [PLACE_ANNOTATION]: `${hostname()}, process ${process.pid}` };
}
