import type { Era } from "./era";
import { counted } from "../text";

/** How many of a cluster's voters count, and what the target is among them. */
export interface Removal {
    /** All voting members, the target included if it is one. */
    readonly voters: number;
    /** Voters proven healthy (safety.md 9), the target included if it is one. */
    readonly healthy: number;
    /** False for a learner. */
    readonly targetIsVoter: boolean;
    readonly targetHealthy: boolean;
    /** Nobody could tell its health; false by default: one that is not healthy is known not to be. */
    readonly targetUnknown?: boolean;
    readonly minControllers: number;
}

export interface Addition {
    readonly voters: number;
    readonly healthy: number;
    readonly learners: number;
    /** Members that were added and never started (they have no name); they may count as voters or learners as well. */
    readonly unstarted: number;
    readonly maxControllers: number;
}

export type Permission =
    | { readonly ok: true }
    | {
          readonly ok: false;
          readonly why: string;
          /** It is the program's limit, and no state that passes. */ readonly isLimit?: true;
      };

/** `spec-leave`: k0s takes the member out itself. `member-remove`: etcd's MemberRemove through a survivor, by ID. */
export type LeaveMethod = "spec-leave" | "member-remove";

export function majority(voters: number): number {
    return Math.floor(voters / 2) + 1;
}

/** safety.md 8, removing. */
export function mayRemove(removal: Removal): Permission {
    const { voters, healthy, targetIsVoter, targetHealthy } = removal;
    if (!targetIsVoter) return { ok: true };
    if (voters <= 1) return no("it is the last controller of the cluster");
    const below = belowMinimum(removal);
    if (below !== undefined) return below;
    if (!targetHealthy) {
        return healthy >= majority(voters)
            ? { ok: true }
            : no(`${count(healthy, voters)}: etcd has no quorum to remove a member`);
    }
    const left = healthy - 1;
    if (left >= majority(voters - 1)) return { ok: true };
    return no(`${count(healthy, voters)}: without this one etcd would lose its quorum`);
}

/** The program's limit counts controllers that work: whoever is known not to be healthy is none of them, and may go. */
function belowMinimum(removal: Removal): Permission | undefined {
    const { voters, healthy, targetHealthy, targetUnknown = false, minControllers } = removal;
    if (!targetHealthy && !targetUnknown) return undefined;
    const than = `would be left, fewer than cluster.minControllers (${minControllers})`;
    if (voters - 1 < minControllers) return limit(`${counted(voters - 1, "controller")} ${than}`);
    const left = healthy - (targetHealthy ? 1 : 0);
    return left < minControllers ? no(`${counted(left, "healthy controller")} ${than}`) : undefined;
}

/** safety.md 8, adding. */
export function mayAdd({ voters, healthy, learners, unstarted, maxControllers }: Addition): Permission {
    if (voters + 1 > maxControllers) {
        return limit(
            `there would be ${counted(voters + 1, "controller")}, more than cluster.maxControllers (${maxControllers})`,
        );
    }
    if (unstarted > 0) return no("an etcd member was added and never started");
    if (learners > 0) return no("an etcd member is still a learner");
    if (healthy < voters) return no(`${count(healthy, voters)}; adding needs all of them`);
    return { ok: true };
}

/**
 * safety.md 10: k0s takes the member out itself only where that is known to end well: a live voter with an object, an era
 * that removes before it stops or stops safely, and a quorum that holds even if the target stops before its removal is
 * committed (so never with two voters). Era A removes by name, once and without trying again; there it is done by ID too.
 */
export function howToLeave(
    removal: Omit<Removal, "minControllers"> & { readonly era: Era; readonly hasObject: boolean },
): LeaveMethod {
    const { voters, healthy, targetIsVoter, targetHealthy, era, hasObject } = removal;
    const live = targetIsVoter && targetHealthy && hasObject;
    const holdsWhileStopped = healthy - 1 >= majority(voters);
    return live && era !== "A" && holdsWhileStopped ? "spec-leave" : "member-remove";
}

function count(healthy: number, voters: number): string {
    return `${healthy} of ${voters} voting members are healthy`;
}

function limit(why: string): Permission {
    return { ok: false, why, isLimit: true };
}

function no(why: string): Permission {
    return { ok: false, why };
}
