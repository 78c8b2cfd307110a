import type { Kube, LeaseObject } from "../adapters/kube";
import { LockError, messageOf, MkeError } from "../errors";
import type { Log } from "../log";
import { HeldLease } from "./held";
import {
    conflicts,
    isFree,
    LeaseObserver,
    leaseNameOf,
    LOCK_LABEL,
    LOCK_LABEL_VALUE,
    LOCK_NAMESPACE,
    type LockKind,
    newLease,
    PLACE_ANNOTATION,
    takenOver,
} from "./leases";
import { type LockTiming, momentOf } from "./timing";

const STAGE = "waiting for the lock";
/** The first pause between two lines about the same wait; it doubles up to the last. */
const FIRST_LINE_AFTER = 15_000;
const LAST_LINE_AFTER = 120_000;
/**
 * An API server that answers nothing for so long may have been removed while we queued; the caller looks for another one.
 * The loss of an etcd leader takes 7 s (observed.md).
 */
const API_PATIENCE = 15_000;

export interface Acquisition {
    readonly kube: () => Kube;
    readonly kind: LockKind;
    readonly holder: string;
    readonly timeoutSeconds: number;
    readonly log: Log;
    readonly timing: LockTiming;
}

type Attempt = { readonly held: HeldLease } | { readonly blocker: LeaseObject } | { readonly failure: MkeError };

/**
 * Takes the Lease: takes our own, then looks at the others, and gives ours back when one of them is in the way. Whoever
 * comes second always sees the first, so two never hold both.
 */
export async function acquire(acquisition: Acquisition): Promise<HeldLease> {
    const { timing, timeoutSeconds } = acquisition;
    const { clock } = timing;
    const { durationSeconds } = timing;
    const observer = new LeaseObserver(clock, { holder: acquisition.holder, durationSeconds });
    const announce = announcer(acquisition);
    const end = clock.monotonic() + timeoutSeconds * 1000;
    let answered = clock.monotonic();
    for (;;) {
        const attempt = await attemptOnce(acquisition, observer);
        if ("held" in attempt) return attempt.held;
        const now = clock.monotonic();
        if ("blocker" in attempt) answered = now;
        const left = Math.min(patienceWith(attempt, observer, end), answered + API_PATIENCE) - now;
        if (left <= 0) throw "failure" in attempt ? attempt.failure : heldByOther(acquisition, attempt.blocker);
        announce(attempt);
        await clock.sleep(Math.min(left, timing.pollEvery * (1 + Math.random())));
    }
}

/** A Lease whose holder was killed is waited out to its end, also beyond the time limit: only so does it ever free. */
function patienceWith(attempt: Attempt, observer: LeaseObserver, end: number): number {
    const over = "blocker" in attempt ? observer.endOf(attempt.blocker) : undefined;
    return Math.max(end, over ?? end);
}

async function attemptOnce(acquisition: Acquisition, observer: LeaseObserver): Promise<Attempt> {
    try {
        return await attempt(acquisition, observer);
    } catch (error) {
        if (error instanceof MkeError && error.retryable) return { failure: error };
        throw error;
    }
}

async function attempt(acquisition: Acquisition, observer: LeaseObserver): Promise<Attempt> {
    const before = await findConflict(acquisition, observer);
    if (before !== undefined) return { blocker: before };
    const taken = await take(acquisition, observer);
    if ("blocker" in taken) return taken;
    try {
        const after = await findConflict(acquisition, observer);
        if (after === undefined) return taken;
        await taken.held.release(false);
        return { blocker: after };
    } catch (error) {
        await taken.held.release(false);
        throw error;
    }
}

async function findConflict({ kube, kind }: Acquisition, observer: LeaseObserver): Promise<LeaseObject | undefined> {
    const leases = await kube().leases(LOCK_NAMESPACE, `${LOCK_LABEL}=${LOCK_LABEL_VALUE}`);
    // every one is looked at, so that all of them age together
    const alive = leases.filter((lease) => !observer.isExpired(lease));
    return alive.find((lease) => conflicts(kind, lease));
}

async function take(
    acquisition: Acquisition,
    observer: LeaseObserver,
): Promise<{ readonly held: HeldLease } | { readonly blocker: LeaseObject }> {
    const { kube, kind, holder, timing, log } = acquisition;
    for (;;) {
        const moment = momentOf(timing.clock);
        const hold = (lease: LeaseObject) => ({ held: new HeldLease(kube, lease, moment, timing, log) });
        const existing = await kube().lease(LOCK_NAMESPACE, leaseNameOf(kind));
        if (existing?.holder === holder) return hold(existing);
        const taken = await (existing === undefined
            ? kube().createLease(newLease(kind, holder, timing.durationSeconds))
            : takeOver(acquisition, existing, observer));
        if (taken === "blocked" && existing !== undefined) return { blocker: existing };
        // undefined: somebody was faster; look again who
        if (taken !== undefined && taken !== "blocked") return hold(taken);
    }
}

async function takeOver(
    { kube, holder, timing }: Acquisition,
    lease: LeaseObject,
    observer: LeaseObserver,
): Promise<LeaseObject | undefined | "blocked"> {
    if (!isFree(lease) && !observer.isExpired(lease)) return "blocked";
    const now = new Date(timing.clock.wall()).toISOString().replace(/Z$/, "000Z");
    return kube().replaceLease(takenOver(lease, holder, timing.durationSeconds, now));
}

/** Says who holds it: at once, then more and more seldom. */
function announcer({ kind, log, timing }: Acquisition): (attempt: Exclude<Attempt, { held: HeldLease }>) => void {
    let nextLine = -Infinity;
    let pause = FIRST_LINE_AFTER;
    return (attempt) => {
        const now = timing.clock.monotonic();
        if (now < nextLine) return;
        if (nextLine !== -Infinity) pause = Math.min(pause * 2, LAST_LINE_AFTER);
        nextLine = now + pause;
        const why =
            "failure" in attempt
                ? (messageOf(attempt.failure).split("\n")[0] ?? "")
                : describeHolder(attempt.blocker, timing.clock.wall());
        log.line(`waiting for the lock ${leaseNameOf(kind)}: ${why}`);
    };
}

function heldByOther({ timing, timeoutSeconds }: Acquisition, lease: LeaseObject): LockError {
    const waited = timeoutSeconds === 0 ? "not waited for" : `gave up after ${timeoutSeconds} s`;
    return new LockError({
        stage: STAGE,
        what: `${describeHolder(lease, timing.clock.wall())} (${waited})`,
        advice:
            "Wait for that operation, or raise `timeouts.lock`. Only if it has certainly ended: " +
            `\`kubectl -n ${lease.namespace} delete lease ${lease.name}\`.`,
    });
}

function describeHolder(lease: LeaseObject, now: number): string {
    const place = lease.annotations[PLACE_ANNOTATION];
    const renewed = Math.max(0, Math.round((now - Date.parse(lease.renewTime)) / 1000));
    const age = Math.max(0, Math.round((now - Date.parse(lease.acquireTime)) / 1000));
    return (
        `${lease.name} is held by ${lease.holder}${place === undefined ? "" : ` (${place})`} ` +
        `for ${age} s, renewed ${renewed} s ago, for ${lease.durationSeconds} s at a time`
    );
}
