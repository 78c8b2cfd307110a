import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { LeaseObject, NewLease } from "../adapters/kube";

export const LOCK_NAMESPACE = "kube-system";
export const CONTROL_PLANE_LEASE = "pulumi-mke-control-plane";
const LOCK_LABEL = "app.kubernetes.io/managed-by";
const LOCK_LABEL_VALUE = "pulumi-mke";
/** Which process holds it. */
const PROCESS_ANNOTATION = "pulumi-mke/process";
/** Machine id of the host that its holder works on. */
const MACHINE_ANNOTATION = "pulumi-mke/machine";
/** Who holds it, for people: machine and process id. */
export const PLACE_ANNOTATION = "pulumi-mke/held-from";

/**
 * What is locked: the control plane; one node by its name; or a turn to drain, of which so many may be taken at a time.
 * A turn is no permission to change anything: it is taken by an operation that holds its own lock already.
 */
export type LockKind = OperationLock | { readonly drain: number };

/** The lock that an operation works under. `machine`: machine id of its host, which nobody else works on meanwhile. */
export type OperationLock = ({ readonly controlPlane: true } | { readonly node: string }) & {
    readonly machine?: string;
};

const NODE_PREFIX = "pulumi-mke-node-";
const DRAIN_PREFIX = "pulumi-mke-drain-";
export const LOCK_SELECTOR = `${LOCK_LABEL}=${LOCK_LABEL_VALUE}`;

const PROCESS_ID = randomUUID();
const RANDOM_BYTES = 6;

/** Holders of this process whose operations are still running. */
const living = new Set<string>();

export function leaseNameOf(kind: OperationLock): string {
    return "node" in kind ? `${NODE_PREFIX}${kind.node}` : CONTROL_PLANE_LEASE;
}

function drainLeaseName(index: number): string {
    return `${DRAIN_PREFIX}${index}`;
}

/** The node that a Lease locks; undefined for the others. */
export function nodeLockedBy({ name }: Pick<LeaseObject, "name">): string | undefined {
    return name.startsWith(NODE_PREFIX) ? name.slice(NODE_PREFIX.length) : undefined;
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

export function newLease(name: string, holder: string, durationSeconds: number, kind: LockKind): NewLease {
    return {
        namespace: LOCK_NAMESPACE,
        name,
        holder,
        durationSeconds,
        labels: { [LOCK_LABEL]: LOCK_LABEL_VALUE },
        annotations: annotationsOf(kind),
    };
}

/** The Lease of an earlier holder, taken over. Its operation record stays: it tells what was interrupted. */
export function takenOver(
    lease: LeaseObject,
    {
        holder,
        durationSeconds,
        kind,
    }: { readonly holder: string; readonly durationSeconds: number; readonly kind: LockKind },
    now: string,
): LeaseObject {
    const { [MACHINE_ANNOTATION]: _, ...annotations } = lease.annotations;
    return {
        ...lease,
        holder,
        durationSeconds,
        acquireTime: now,
        labels: { ...lease.labels, [LOCK_LABEL]: LOCK_LABEL_VALUE },
        annotations: { ...annotations, ...annotationsOf(kind) },
    };
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
 * Does that Lease keep us from taking ours? One node against another only where both are about one machine; a node against
 * the control plane only between processes, because within one they queue where they must. Turns to drain count against each
 * other and nothing else.
 */
export function conflicts(kind: LockKind, lease: LeaseObject): boolean {
    if (isFree(lease)) return false;
    const isTurn = lease.name.startsWith(DRAIN_PREFIX);
    if ("drain" in kind || isTurn) return "drain" in kind && isTurn;
    if (lease.name === leaseNameOf(kind)) return false;
    if (kind.machine !== undefined && lease.annotations[MACHINE_ANNOTATION] === kind.machine) return true;
    if (isHeldHere(lease)) return false;
    return !("node" in kind) || lease.name === CONTROL_PLANE_LEASE;
}

/** How many Leases that conflict may be held beside ours. */
export function roomFor(kind: LockKind): number {
    return "drain" in kind ? kind.drain - 1 : 0;
}

/** The Lease to take: for a turn to drain the first that is none of those in use. */
export function leaseToTake(kind: LockKind, inUse: readonly LeaseObject[]): string {
    if (!("drain" in kind)) return leaseNameOf(kind);
    let index = 0;
    while (inUse.some(({ name }) => name === drainLeaseName(index))) index += 1;
    return drainLeaseName(index);
}

/** For people: what is waited for. */
export function nameOf(kind: LockKind): string {
    return "drain" in kind ? "to drain" : leaseNameOf(kind);
}

function annotationsOf(kind: LockKind): Record<string, string> {
    return {
        [PROCESS_ANNOTATION]: PROCESS_ID,
        [PLACE_ANNOTATION]: `${hostname()}, process ${process.pid}`,
        ...("drain" in kind || kind.machine === undefined ? {} : { [MACHINE_ANNOTATION]: kind.machine }),
    };
}
