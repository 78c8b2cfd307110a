import { defined } from "../defined";

/** Sections of `docs/runbook.md`; a test proves that each exists there. */
export const TOPICS = [
    "member-without-cr",
    "cr-status-never-written",
    "cr-status-stale",
    "removed-out-of-band",
    "interrupted-removal",
    "leave-in-progress",
    "member-on-wiped-host",
    "unhealthy-bystander",
    "foreign-cluster",
    "unknown-state",
    "ghost-member",
    "second-cluster",
    "storage",
    "quorum",
    "stranded-workers",
    "lock-held",
    "other-machine",
    "other-owner",
    "wrong-role",
    "name-taken",
    "broken-installation",
    "version-mismatch",
    "configuration-files",
    "k0s-settings",
    "living-node",
    "lone-controller",
    "renamed-machine",
    "directories",
] as const;

export type Topic = (typeof TOPICS)[number];

/** "Report, fail": nothing is changed. The caller turns it into a RefusedError. */
export interface Refusal {
    readonly kind: "refuse";
    /** One clause, e.g. `scenario 9 (…): report, fail`. */
    readonly what: string;
    /** What was seen where, a clause each. */
    readonly evidence: readonly string[];
    readonly topic?: Topic;
    /** True where the state may pass by itself within seconds: look again for a bounded time before believing it. */
    readonly lookAgain: boolean;
    /** For how long at most, in seconds; default 30. */
    readonly lookAgainFor?: number;
    /** It is a limit that the program sets, whatever becomes of the cluster meanwhile. */
    readonly isLimit?: true;
    /** An earlier run of ours began something on this node: that nothing was changed is true of this run alone. */
    readonly begun?: boolean;
    /** What to do now, where the runbook is not needed for it. */
    readonly advice?: string;
}

export function refuse(what: string, evidence: readonly string[], topic?: Topic, lookAgain = false): Refusal {
    return { kind: "refuse", what, evidence, lookAgain, ...defined({ topic }) };
}

/** For a refusal before the first change of a run; `begun`: an earlier one of ours on this node did not end. */
export function unchanged(begun: boolean): string {
    return begun ? "Nothing more was changed." : "Nothing was changed.";
}

/** True for the plan that says no. */
export function isRefusal(plan: { readonly kind: string }): plan is Refusal {
    return plan.kind === "refuse";
}

/**
 * For a controller that may not go before other nodes: Pulumi's engine starts removals in no order, and no more at a time than
 * `--parallel` says, so that they may wait for the very one that would wait for them.
 */
export const NOT_BEGUN_ADVICE =
    "If this run was to remove them too, it had not begun to: run it again, with a higher `--parallel` where you gave one; nodes " +
    "whose resources depend on this one's (`dependsOn`) always go before it.";
