import { setTimeout as sleepFor } from "node:timers/promises";

/** Two clocks, because each is blind to something: the monotonic one stops while a machine sleeps, the wall clock is set. */
export interface LockClock {
    /** Milliseconds. */
    monotonic(): number;
    /** Milliseconds since 1970. */
    wall(): number;
    /** Ends early, without an error, when the signal is given. */
    sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export interface LockTiming {
    /** Life of the Lease without a renewal, seconds; default 60. */
    readonly durationSeconds: number;
    /** Milliseconds between renewals; default 20 000. */
    readonly renewEvery: number;
    /** Milliseconds until a failed renewal is tried again; default 2000. */
    readonly retryEvery: number;
    /** Milliseconds in which giving it back is tried again; default 60 000. */
    readonly releaseFor: number;
    /** Milliseconds between looks at a lock that somebody else holds; default 2000, plus up to as much at random. */
    readonly pollEvery: number;
    /** Milliseconds of a Lease's life that must be left for the call after a proof; default 10 000. */
    readonly margin: number;
    readonly clock: LockClock;
}

const systemClock: LockClock = {
    monotonic: () => performance.now(),
    wall: () => Date.now(),
    sleep: async (milliseconds, signal) => {
        await sleepFor(milliseconds, undefined, { ref: true, ...(signal && { signal }) }).catch(() => undefined);
    },
};

export const DEFAULT_TIMING: LockTiming = {
    durationSeconds: 60,
    renewEvery: 20_000,
    retryEvery: 2000,
    releaseFor: 60_000,
    pollEvery: 2000,
    margin: 10_000,
    clock: systemClock,
};

/** A moment on both clocks. */
export interface Moment {
    readonly monotonic: number;
    readonly wall: number;
}

export function momentOf(clock: LockClock): Moment {
    return { monotonic: clock.monotonic(), wall: clock.wall() };
}

/** The longer of what the clocks say: a holder must count the time its machine slept. */
export function elapsedSince(clock: LockClock, moment: Moment): number {
    return Math.max(clock.monotonic() - moment.monotonic, clock.wall() - moment.wall);
}
