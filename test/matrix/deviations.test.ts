import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "mocha";
import type { SimEvent } from "../sim";
import { root } from "../support/root";
import { DEVIATIONS, deviationsOf } from "./deviations";
import { readDocument } from "./document";
import { judgeWrites } from "./judge-writes";
import type { World } from "./world";

const cells = readDocument();

describe("deviations from the words of the node matrix", () => {
    it("are the table of docs/node-matrix.md", () => {
        const lines = readFileSync(join(root, "docs", "node-matrix.md"), "utf8").split("\n");
        const rows = lines
            .filter((line) => line.startsWith("| "))
            .slice(2)
            .map((line) => line.split(" | ").map((field) => field.replace(/^\| | \|$/g, "").trim()));
        assert.deepEqual(
            rows,
            DEVIATIONS.map(({ cells: which, what, reason }) => [which, what, reason]),
        );
    });

    for (const { cells: which, what, fits } of DEVIATIONS) {
        it(`hold for the cells that they name: ${which} (${what})`, () => {
            const named = which.match(/\b\d+[a-f]\b/g);
            const found = cells.filter(fits);
            assert.ok(found.length > 0);
            assert.ok(found.every(({ words }) => !words.startsWith("report, fail")));
            if (named !== null) assert.deepEqual([...new Set(found.map(({ row }) => row))], named);
        });
    }
});

describe("the judge of the node matrix", () => {
    const world = (...events: readonly Partial<SimEvent>[]): World =>
        ({ name: "c3", target: { name: "c3" }, sim: { events } }) as unknown as World;
    const program = (what: string, host = "c3"): Partial<SimEvent> => ({ kind: "program", what, host });
    const judge = (events: readonly Partial<SimEvent>[]): string[] =>
        judgeWrites(world(...events), ["reset"], [{ adds: ["folders"], always: true }], 0);

    it("finds nothing where each write is called for by a word or a listed deviation", () => {
        assert.deepEqual(judge([program("probe"), program("reset"), program("clean-up")]), []);
    });

    for (const [what, event] of [
        ["a step too many", { kind: "api-write", what: "DELETE /api/v1/nodes/c3", host: "c1" }],
        ["a program that nobody knows", program("mow-the-lawn")],
        ["the right program on another host", program("reset", "c1")],
        ["another node's object", { kind: "api-write", what: "DELETE /api/v1/nodes/c2", host: "c1" }],
        [
            "somebody else's Lease",
            { kind: "api-write", what: "DELETE /x/namespaces/kube-system/leases/other", host: "c1" },
        ],
        ["a file that is not ours", { ...program("write-file"), values: { FILE: "/etc/passwd" } }],
    ] as const) {
        it(`sees ${what}`, () => {
            const [problem, ...more] = judge([program("reset"), program("clean-up"), event]);
            assert.match(problem ?? "", /^no word calls for .*: it did /);
            assert.deepEqual(more, []);
        });
    }

    it("sees that a listed deviation did not happen", () => {
        assert.deepEqual(judge([program("reset")]), ["folders did not happen"]);
    });

    it("knows no deviation of a cell that reports and fails", () => {
        const failing = cells.filter(({ words }) => words.startsWith("report, fail"));
        assert.deepEqual([...new Set(failing.map((cell) => deviationsOf(cell).length))], [0]);
    });
});
