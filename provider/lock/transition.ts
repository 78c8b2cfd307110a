import type { LeaseObject } from "../adapters/kube";
import type { NodeObject } from "../facts/cluster";
import { CONTROL_PLANE_LEASE, isFree, isHeldHere, nodeLockedBy } from "./leases";
import { LeaseObserver } from "./observer";
import { recordIn } from "./records";
import { DEFAULT_TIMING, type LockClock } from "./timing";

/** What the operations of others move at this moment, as their locks tell. */
export interface Transition {
    /** Nodes that are being added or removed. */
    readonly nodeNames: readonly string[];
    /** The same, where it is not known yet whether the holder of the lock lives. */
    readonly undecided: readonly string[];
    /** An operation on the control plane other than ours is under way, or may be. */
    readonly controlPlane: boolean;
}

type Life = "living" | "undecided" | "ended";

/**
 * Watches the locks of other operations during one check. A holder lives if it is of this process, was seen to renew, or
 * renewed within the life of its Lease by the wall clock; a Lease that looks older (the clocks may differ) is watched, and
 * its holder is dead once it stayed unchanged for its whole life.
 */
export class TransitionWatch {
    private readonly observer: LeaseObserver;

    constructor(
        private readonly ownHolder: string,
        private readonly clock: LockClock = DEFAULT_TIMING.clock,
    ) {
        const { durationSeconds } = DEFAULT_TIMING;
        this.observer = new LeaseObserver(clock, { holder: ownHolder, durationSeconds, adoptStale: false });
    }

    look(leases: readonly LeaseObject[], nodes: readonly NodeObject[]): Transition {
        const others = leases
            .filter((lease) => lease.holder !== this.ownHolder)
            .map((lease) => ({ lease, life: this.lifeOf(lease), names: nodesOf(lease, nodes) }));
        const named = (life: Life): string[] =>
            others.filter((other) => other.life === life).flatMap(({ names }) => names);
        return {
            nodeNames: named("living"),
            undecided: named("undecided"),
            controlPlane: others.some(({ lease, life }) => lease.name === CONTROL_PLANE_LEASE && life !== "ended"),
        };
    }

    private lifeOf(lease: LeaseObject): Life {
        const isStale = this.observer.isStale(lease);
        if (isFree(lease) || isStale) return "ended";
        if (isHeldHere(lease) || this.observer.isRenewed(lease)) return "living";
        const age = Math.abs(this.clock.wall() - Date.parse(lease.renewTime));
        return age <= lease.durationSeconds * 1000 ? "living" : "undecided";
    }
}

function nodesOf(lease: LeaseObject, nodes: readonly NodeObject[]): string[] {
    const node = nodeLockedBy(lease);
    if (node !== undefined) return [node];
    const record = lease.name === CONTROL_PLANE_LEASE ? recordIn(lease) : undefined;
    if (record === undefined) return [];
    const { target, nodeName } = record;
    return nodes
        .filter(({ name, addresses }) => name === nodeName || addresses.includes(target))
        .map(({ name }) => name);
}
