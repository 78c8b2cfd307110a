import type { Kube } from "../adapters/kube";
import type { Log } from "../log";
import { acquire } from "./acquire";
import type { Elsewhere, HeldLock } from "./held";
import { leaseNameOf, type LockKind, markEnded, markLiving, newHolder } from "./leases";
import { exclusively, taking } from "./mutex";
import { DEFAULT_TIMING, type LockTiming } from "./timing";

export type { HeldLock } from "./held";
export {
    CONTROL_PLANE_LEASE,
    leaseNameOf,
    LOCK_NAMESPACE,
    LOCK_SELECTOR,
    type LockKind,
    type OperationLock,
} from "./leases";
export { OPERATION_ANNOTATION, recordIn } from "./records";
export { movedHere, whileMoving } from "./moving";
export { type Transition, TransitionWatch } from "./transition";
export type { LockClock, LockTiming } from "./timing";

export interface LockRequest {
    /** Asked for each call: the connection may change while the lock is held. */
    readonly kube: () => Kube;
    /** For giving the lock back, where `kube` does not answer any more. */
    readonly elsewhere?: Elsewhere;
    readonly clusterId: string;
    readonly kind: LockKind;
    /** organisation/project/stack/name. */
    readonly owner: string;
    /** The machine that the operation is about, as its record names it; absent for a turn to drain. */
    readonly target?: string;
    /** How long another process is waited for; 0 aborts at once. Operations of this process queue without a limit. */
    readonly timeoutSeconds: number;
    /** Take over other owners' Leases too once they are stale (`lock.adoptStale`); default false. */
    readonly adoptStale?: boolean;
    readonly log: Log;
    /** Called when our turn in this process has come; throws where it has become useless meanwhile. */
    readonly proceed?: () => void;
    /** For tests. */
    readonly timing?: Partial<LockTiming>;
}

/**
 * Runs the action under the lock (safety.md 14) and gives the lock back whatever happens.
 * Fails with a LockError that names holder and age when another process does not let go in time, and at once when it has
 * stopped renewing and must not be taken for dead.
 */
export async function withLock<T>(request: LockRequest, action: (held: HeldLock) => Promise<T>): Promise<T> {
    const { clusterId, kind, log } = request;
    const what = "drain" in kind ? "to drain" : "to end";
    const queueing = (ahead: number): void => log.line(`waiting for ${ahead} other operation(s) of this run ${what}`);
    if ("drain" in kind) return taking(`${clusterId} drain`, kind.drain, queueing, () => locked(request, action));
    const run = async (): Promise<T> => {
        request.proceed?.();
        return locked(request, action);
    };
    const { machine } = kind;
    // Always in this order: the name, then the machine.
    return exclusively(`${clusterId} ${leaseNameOf(kind)}`, queueing, () =>
        machine === undefined ? run() : exclusively(`machine ${machine}`, queueing, run),
    );
}

async function locked<T>(request: LockRequest, action: (held: HeldLock) => Promise<T>): Promise<T> {
    const holder = newHolder(request.owner);
    const timing = { ...DEFAULT_TIMING, ...request.timing };
    markLiving(holder);
    try {
        const about = { owner: request.owner, target: request.target ?? "" };
        const held = await acquire({ adoptStale: false, ...request, holder, about, timing });
        held.startRenewing();
        let succeeded = false;
        try {
            const result = await action(held);
            succeeded = true;
            return result;
        } finally {
            await held.release(succeeded, request.elsewhere);
        }
    } finally {
        markEnded(holder);
    }
}
