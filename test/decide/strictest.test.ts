import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type Verdict, VERDICTS } from "../../provider/decide/etcd-verdict";
import { cellFor, type NodeOperation, type Scenario } from "../../provider/decide/matrix";
import { outcomeOf, OUTCOMES, strictest } from "../../provider/decide/strictest";
import { readDocument } from "../matrix/document";

const SCENARIOS = [0, 1, 2, 3, 4, 6, 7, 10] as const;
const OPERATIONS = ["add", "remove"] as const;

function outcome(scenario: Scenario, verdict: Verdict, operation: NodeOperation): string {
    return outcomeOf(cellFor(scenario, verdict, "controller", operation));
}

describe("the most strict verdict", () => {
    it("goes by outcome: fail before wait before act before nothing, in every scenario", () => {
        for (const scenario of SCENARIOS) {
            for (const operation of OPERATIONS) {
                for (const one of VERDICTS) {
                    for (const other of VERDICTS) {
                        const [first, second] = [one, other].map((verdict) =>
                            (OUTCOMES as readonly string[]).indexOf(outcome(scenario, verdict, operation)),
                        ) as [number, number];
                        const found = strictest([one, other], scenario, operation);
                        if (first !== second) assert.equal(found, first < second ? one : other);
                        assert.equal(strictest([other, one], scenario, operation), found, "in any order");
                    }
                }
            }
        }
    });

    it("is the one of the lifecycle page for a removal", () => {
        const order: readonly Verdict[] = [
            "VerdictUnknown",
            "VerdictLeaveRequested",
            "VerdictLeftCRNotUpdated",
            "VerdictHealthy",
            "VerdictMemberLeftCRNeedsCleanup",
            "VerdictClean",
        ];
        order.slice(1).forEach((verdict, index) => {
            const stricter = order[index] as Verdict;
            assert.equal(strictest([verdict, stricter], 2, "remove"), stricter);
        });
    });

    it("of a single host is its own", () => {
        assert.equal(strictest(["VerdictClean"], 0, "add"), "VerdictClean");
    });

    it("calls by the same names what the document's words say", () => {
        for (const { scenario, verdict, kind, operation, words } of readDocument()) {
            if (kind === "worker" || verdict === undefined) continue;
            const found = outcome(scenario, verdict, operation);
            assert.equal(found === "fail", words.startsWith("report, fail"), words);
            if (found !== "fail" && verdict !== "VerdictHealthy") {
                assert.equal(found === "wait", /\bwait (until|for)\b/.test(words), words);
            }
        }
    });
});
