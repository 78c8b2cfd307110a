import type { LeaseObject } from "../adapters/kube";
import type { LockClock } from "./timing";

interface Seen {
    readonly version: string;
    readonly since: number;
    /** It was renewed while it was watched. */
    readonly renewed: boolean;
}

export interface Observing {
    readonly holder: string;
    /** Life of a Lease that is not stretched. */
    readonly durationSeconds: number;
    /** Other owners' Leases may be taken over too once they are stale (`lock.adoptStale`). */
    readonly adoptStale: boolean;
}

/**
 * Judges expiry by our own clock: a Lease is stale when it was seen unchanged for as long as it lives. An earlier run of our
 * own stack is stale after the normal life, however long it had stretched its Lease: Pulumi runs one update of a stack at a
 * time, so that run was killed, and whoever still lives renews. It loses nothing by it: it proves its lock before it acts.
 */
export class LeaseObserver {
    private readonly seen = new Map<string, Seen>();

    constructor(
        private readonly clock: LockClock,
        private readonly own: Observing,
    ) {}

    isStale(lease: LeaseObject): boolean {
        const version = `${lease.uid} ${lease.holder} ${lease.renewTime}`;
        const before = this.seen.get(lease.name);
        const isSame = before?.version === version;
        const since = isSame ? before.since : this.clock.monotonic();
        this.seen.set(lease.name, { version, since, renewed: before !== undefined && (before.renewed || !isSame) });
        return isSame && this.clock.monotonic() - since >= this.lifeOf(lease);
    }

    /** Whoever stopped renewing may be taken for dead: our own stack always, others where the program says so. */
    mayAdopt({ holder }: LeaseObject): boolean {
        return this.own.adoptStale || isOfOneOwner(holder, this.own.holder);
    }

    /** True once it was seen to be renewed. */
    isRenewed({ name }: LeaseObject): boolean {
        return this.seen.get(name)?.renewed === true;
    }

    /** Milliseconds since it was first seen as it is. */
    unchangedFor({ name }: LeaseObject): number {
        const since = this.seen.get(name)?.since;
        return since === undefined ? 0 : this.clock.monotonic() - since;
    }

    /**
     * The moment, on our clock, when a Lease that is not renewed any more is stale; undefined for one whose holder may just
     * be between two renewals.
     */
    endOf(lease: LeaseObject): number | undefined {
        const since = this.seen.get(lease.name)?.since;
        const isAbandoned = since !== undefined && this.clock.monotonic() - since > this.own.durationSeconds * 1000;
        return isAbandoned ? since + this.lifeOf(lease) : undefined;
    }

    /** The API was away: nobody could renew, so every Lease gets a whole life from now on. */
    interrupted(): void {
        this.seen.clear();
    }

    /** Milliseconds. */
    private lifeOf({ holder, durationSeconds }: LeaseObject): number {
        const isOurs = isOfOneOwner(holder, this.own.holder);
        return (isOurs ? Math.min(durationSeconds, this.own.durationSeconds) : durationSeconds) * 1000;
    }
}

/**
 * The same organisation, project and stack, of holders made by `newHolder`. The operation record does not count: that of an
 * earlier holder stays in a Lease until the next one writes its own.
 */
function isOfOneOwner(one: string, other: string): boolean {
    return stackOf(one) === stackOf(other);
}

function stackOf(holder: string): string {
    return holder.split("/").slice(0, -1).slice(0, 3).join("/");
}
