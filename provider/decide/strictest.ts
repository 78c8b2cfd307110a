import type { Verdict } from "./etcd-verdict";
import { cellFor, type Cell, type NodeOperation, type Scenario } from "./matrix";

/** What a cell comes to for etcd, the strictest first. */
export const OUTCOMES = ["fail", "wait", "act", "nothing"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Among verdicts of one outcome (mke4-node-lifecycle.md 2.4). */
const TIES: readonly Verdict[] = [
    "VerdictUnknown",
    "VerdictHazardCRMissing",
    "VerdictCorruptedRemoval",
    "VerdictOOBRemovalStaleCR",
    "VerdictCRStatusStale",
    "VerdictCRStatusNeverWritten",
    "VerdictLeaveRequested",
    "VerdictLeftCRNotUpdated",
    "VerdictHealthy",
    "VerdictMemberLeftCRNeedsCleanup",
    "VerdictClean",
];

/** What a controller's cell asks for: to fail, to wait for others, to do something about it, or nothing. */
export function outcomeOf({ action }: Pick<Cell, "action">): Outcome {
    if (action.kind === "fail") return "fail";
    if (action.kind === "add") {
        const { kind, cleanStaleObject } = action.steps;
        if (kind === "wait-ready") return "wait";
        return kind === "adopt" && !cleanStaleObject ? "nothing" : "act";
    }
    const { leave, deleteObject } = action.steps;
    if (leave === "wait-left" || leave === "wait-joined-false") return "wait";
    return leave === "leave" || deleteObject ? "act" : "nothing";
}

/**
 * The verdict that counts where there are several: by the outcome of its cell in this scenario and operation, fail before wait
 * before act before nothing.
 */
export function strictest(
    verdicts: readonly [Verdict, ...Verdict[]],
    scenario: Scenario,
    operation: NodeOperation,
): Verdict {
    const rank = (verdict: Verdict): number => {
        const outcome = outcomeOf(cellFor(scenario, verdict, "controller", operation));
        return OUTCOMES.indexOf(outcome) * TIES.length + TIES.indexOf(verdict);
    };
    return verdicts.reduce((strict, verdict) => (rank(verdict) < rank(strict) ? verdict : strict));
}
