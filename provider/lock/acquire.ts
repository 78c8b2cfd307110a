import type { Kube, LeaseObject } from "../adapters/kube";
import { microTime } from "../adapters/kube/parse";
import { requireEngine } from "../engine";
import { MkeError } from "../errors";
import type { Log } from "../log";
import { HeldLease } from "./held";
import {
    conflicts,
    isFree,
    isHeldHere,
    leaseToTake,
    LOCK_NAMESPACE,
    LOCK_SELECTOR,
    type LockKind,
    nameOf,
    newLease,
    roomFor,
    takenOver,
} from "./leases";
import { LeaseObserver } from "./observer";
import type { RecordSubject } from "./records";
import { announcer, type Blocked, lockHeld } from "./refusal";
import { type LockTiming, momentOf } from "./timing";

/**
 * An API server that answers nothing for so long may have been removed while we queued; the caller looks for another one.
 * The loss of an etcd leader takes 7 s (observed.md).
 */
const API_PATIENCE = 15_000;

export interface Acquisition {
    readonly kube: () => Kube;
    readonly kind: LockKind;
    readonly holder: string;
    /** Whose unfinished operation the holder asks for. */
    readonly about: RecordSubject;
    readonly timeoutSeconds: number;
    /** Stale Leases of other owners are taken over too. */
    readonly adoptStale: boolean;
    readonly log: Log;
    readonly timing: LockTiming;
}

type Attempt = { readonly held: HeldLease } | Blocked | { readonly failure: MkeError };

/**
 * Takes the Lease: takes our own, then looks at the others, and gives ours back when one of them is in the way. Whoever
 * comes second always sees the first, so two never hold both.
 */
export async function acquire(acquisition: Acquisition): Promise<HeldLease> {
    const { timing, timeoutSeconds, holder, adoptStale } = acquisition;
    const { clock, durationSeconds } = timing;
    const observer = new LeaseObserver(clock, { holder, durationSeconds, adoptStale });
    const announce = announcer(acquisition.log, nameOf(acquisition.kind), clock);
    const end = clock.monotonic() + timeoutSeconds * 1000;
    let answered = clock.monotonic();
    for (;;) {
        await requireEngine("taking the lock");
        const attempt = await attemptOnce(acquisition, observer);
        if ("held" in attempt) return attempt.held;
        const now = clock.monotonic();
        if ("blocker" in attempt) answered = now;
        // Nobody renews it, and nobody may take it: to wait longer is of no use.
        if ("blocker" in attempt && attempt.stale) throw lockHeld(attempt, timeoutSeconds, clock);
        const left = Math.min(patienceWith(attempt, observer, end), answered + API_PATIENCE) - now;
        if (left <= 0) throw "failure" in attempt ? attempt.failure : lockHeld(attempt, timeoutSeconds, clock);
        announce(attempt);
        await clock.sleep(Math.min(left, timing.pollEvery * (1 + Math.random())));
    }
}

/** A Lease that may be taken over is waited out to its end, also beyond the time limit: only so does it ever free. */
function patienceWith(attempt: Attempt, observer: LeaseObserver, end: number): number {
    if (!("blocker" in attempt) || !observer.mayAdopt(attempt.blocker)) return end;
    return Math.max(end, observer.endOf(attempt.blocker) ?? end);
}

async function attemptOnce(acquisition: Acquisition, observer: LeaseObserver): Promise<Attempt> {
    try {
        return await attempt(acquisition, observer);
    } catch (error) {
        if (!(error instanceof MkeError && error.retryable)) throw error;
        observer.interrupted();
        return { failure: error };
    }
}

async function attempt(acquisition: Acquisition, observer: LeaseObserver): Promise<Attempt> {
    const before = await survey(acquisition, observer);
    if ("blocker" in before) return before;
    const taken = await take(acquisition, observer, before.name);
    if ("blocker" in taken) return taken;
    try {
        const after = await survey(acquisition, observer);
        if (!("blocker" in after)) return taken;
        await taken.held.release(false);
        return after;
    } catch (error) {
        await taken.held.release(false);
        throw error;
    }
}

/** What keeps us from taking the lock; else the name of the Lease to take. */
async function survey(
    { kube, kind, holder, log }: Acquisition,
    observer: LeaseObserver,
): Promise<Blocked | { readonly name: string }> {
    const leases = await kube().leases(LOCK_NAMESPACE, LOCK_SELECTOR);
    // every one is looked at, so that all of them age together
    const stale = new Set(leases.filter((lease) => observer.isStale(lease) && !isHeldHere(lease)));
    const others = leases.filter((lease) => lease.holder !== holder && conflicts(kind, lease));
    const inUse: LeaseObject[] = [];
    for (const lease of others) {
        const isOver = stale.has(lease) && observer.mayAdopt(lease) && (await fence(kube(), lease, log));
        if (!isOver) inUse.push(lease);
    }
    const room = roomFor(kind);
    const [any] = inUse;
    if (any === undefined || inUse.length <= room) return { name: leaseToTake(kind, inUse) };
    const dead = inUse.filter((lease) => stale.has(lease));
    const living = inUse.find((lease) => !stale.has(lease));
    // One that lives will make room some day, unless the dead alone take all there is.
    const isStale = living === undefined || dead.length > room;
    return blockedBy((isStale ? dead[0] : living) ?? any, isStale, observer);
}

/**
 * Takes a stale Lease from its holder before we do what it forbids: should that one wake up, it finds that its lock is gone.
 * False: it was renewed meanwhile.
 */
async function fence(kube: Kube, lease: LeaseObject, log: Log): Promise<boolean> {
    const done = (await kube.replaceLease({ ...lease, holder: "" })) !== undefined;
    if (done) log.line(`took the lock ${lease.name} from ${lease.holder}, which does not renew it any more`, "quiet");
    return done;
}

async function take(
    acquisition: Acquisition,
    observer: LeaseObserver,
    name: string,
): Promise<{ readonly held: HeldLease } | Blocked> {
    const { kube, holder, about, timing, log } = acquisition;
    for (;;) {
        const moment = momentOf(timing.clock);
        const hold = (lease: LeaseObject) => ({ held: new HeldLease(kube, lease, moment, about, timing, log) });
        const existing = await kube().lease(LOCK_NAMESPACE, name);
        if (existing?.holder === holder) return hold(existing);
        const taken = await (existing === undefined
            ? kube().createLease(newLease(name, holder, timing.durationSeconds, acquisition.kind))
            : takeOver(acquisition, existing, observer));
        if (taken === "blocked" && existing !== undefined) {
            return blockedBy(existing, observer.isStale(existing), observer);
        }
        // undefined: somebody was faster; look again who
        if (taken !== undefined && taken !== "blocked") return hold(taken);
    }
}

async function takeOver(
    { kube, holder, timing, log, kind }: Acquisition,
    lease: LeaseObject,
    observer: LeaseObserver,
): Promise<LeaseObject | undefined | "blocked"> {
    const wasHeld = !isFree(lease);
    if (wasHeld && !(observer.isStale(lease) && observer.mayAdopt(lease))) return "blocked";
    const now = microTime(new Date(timing.clock.wall()));
    const taken = await kube().replaceLease(
        takenOver(lease, { holder, durationSeconds: timing.durationSeconds, kind }, now),
    );
    if (wasHeld && taken !== undefined) {
        log.line(`took over the lock ${lease.name} of ${lease.holder}, which does not renew it any more`, "quiet");
    }
    return taken;
}

function blockedBy(blocker: LeaseObject, stale: boolean, observer: LeaseObserver): Blocked {
    return { blocker, stale, unchangedFor: observer.unchangedFor(blocker) };
}
