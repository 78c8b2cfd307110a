import type { LeaseObject } from "../adapters/kube";
import { LockError, type MkeError, reasonOf } from "../errors";
import type { Log } from "../log";
import { seldom } from "../progress";
import { PLACE_ANNOTATION } from "./leases";
import type { LockClock } from "./timing";

/** Somebody else holds what we want. */
export interface Blocked {
    readonly blocker: LeaseObject;
    /** It was seen unchanged for its whole life, and is not ours to take over. */
    readonly stale: boolean;
    /** Milliseconds that it was watched without a renewal. */
    readonly unchangedFor: number;
}

/** Says who holds it: at once, then more and more seldom. */
export function announcer(
    log: Log,
    name: string,
    clock: LockClock,
): (attempt: Blocked | { readonly failure: MkeError }) => void {
    const isTime = seldom(() => clock.monotonic());
    return (attempt) => {
        if (!isTime()) return;
        const why = "failure" in attempt ? reasonOf(attempt.failure) : describeHolder(attempt.blocker, clock.wall());
        log.line(`waiting for the lock ${name}: ${why}`);
    };
}

/** Names holder, age, whether it still lives, and the ways out. */
export function lockHeld(
    { blocker, stale, unchangedFor }: Blocked,
    timeoutSeconds: number,
    clock: LockClock,
): LockError {
    const who = describeHolder(blocker, clock.wall());
    const watched = `not renewed in the ${Math.round(unchangedFor / 1000)} s that it was watched`;
    const remove = `\`kubectl -n ${blocker.namespace} delete lease ${blocker.name}\``;
    const waited = timeoutSeconds === 0 ? "not waited for" : `gave up after ${timeoutSeconds} s`;
    return new LockError({
        stage: "waiting for the lock",
        what: stale ? `${who}; it is stale: ${watched}` : `${who} (${waited})`,
        advice: stale
            ? `If that operation has certainly ended, set \`lock.adoptStale: true\` and run again, or ${remove}.`
            : `Wait for that operation, or raise \`timeouts.lock\`. Only if it has certainly ended: ${remove}.`,
        topic: "lock-held",
    });
}

function describeHolder(lease: LeaseObject, now: number): string {
    const place = lease.annotations[PLACE_ANNOTATION];
    return (
        `${lease.name} is held by ${lease.holder}${place === undefined ? "" : ` (${place})`} ` +
        `for ${age(lease.acquireTime, now)} s, last renewed ${age(lease.renewTime, now)} s ago; ` +
        `it expires ${lease.durationSeconds} s after its last renewal`
    );
}

function age(time: string, now: number): number {
    return Math.max(0, Math.round((now - Date.parse(time)) / 1000));
}
