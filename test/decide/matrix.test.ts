import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { VERDICTS } from "../../provider/decide/etcd-verdict";
import { type Cell, cellFor, MATRIX, needsVerdict } from "../../provider/decide/matrix";
import { type DocumentCell, readDocument } from "../matrix/document";

const document = readDocument();

function found({ scenario, verdict, kind, operation }: DocumentCell): Cell {
    return cellFor(scenario, verdict, kind, operation);
}

describe("the scenario matrix", () => {
    it("finds the 204 cells in the document: 22 for workers, 182 for controllers", () => {
        assert.equal(document.filter((cell) => cell.kind === "worker").length, 22);
        assert.equal(document.filter((cell) => cell.kind === "controller").length, 182);
    });

    it("names every verdict in the document, and no other", () => {
        const named = new Set(document.flatMap(({ verdict }) => (verdict === undefined ? [] : [verdict])));
        assert.deepEqual([...named].sort(), [...VERDICTS].sort());
    });

    for (const cell of document) {
        const { scenario, verdict, kind, operation, words } = cell;
        it(`says of scenario ${scenario} ${verdict ?? ""} ${kind} ${operation} what the document says`, () => {
            assert.equal(found(cell).words, words);
            assert.equal(MATRIX[scenario].title, cell.title);
            assert.equal(needsVerdict(scenario, kind), verdict !== undefined);
        });

        it(`does in scenario ${scenario} ${verdict ?? ""} ${kind} ${operation} what its words say`, () => {
            const { action } = found(cell);
            assert.equal(action.kind === "fail", words.startsWith("report, fail"));
            if (action.kind === "remove") assertRemoval(words, action.steps, cell);
            if (action.kind === "add") assert.deepEqual(action.steps, addStepsOf(words));
        });
    }

    it("answers as for VerdictUnknown where a verdict is needed and none is known", () => {
        assert.equal(cellFor(2, undefined, "controller", "remove").action.kind, "fail");
    });
});

function addStepsOf(words: string): object {
    if (words.startsWith("cleanup stale CR")) return { kind: "join", cleanStaleObject: true };
    const kinds: readonly (readonly [string, string])[] = [
        ["happy path", "join"],
        ["report; register", "adopt"],
        ["exclude from adding, but wait", "wait-ready"],
        ["restart k0s", "restart"],
    ];
    return { kind: kinds.find(([start]) => words.startsWith(start))?.[1], cleanStaleObject: false };
}

/** The steps read off the words once more, by other means than the table's. */
function assertRemoval(words: string, steps: object, { scenario, kind, verdict }: DocumentCell): void {
    const isWhole = words.includes("happy path");
    const noDrain = /skip node (drain|cordon)|exclude cordon|k0s reset \(best effort\)$/.test(words);
    const drain = (isWhole || /proceed to node cordon|, node cordon and drain/.test(words)) && !noDrain;
    assert.equal(get(steps, "drain"), drain, "drain");

    const isLeave = verdict === "VerdictHealthy";
    const expectedLeave = isLeave
        ? "leave"
        : /wait (until|for) (etcd )?member/.test(words)
          ? "wait-left"
          : /Joined=False/.test(words)
            ? "wait-joined-false"
            : "none";
    assert.equal(get(steps, "leave"), kind === "worker" ? "none" : expectedLeave, "leave");

    const hasObject = kind === "controller" && verdict !== "VerdictClean";
    assert.equal(get(steps, "deleteObject"), hasObject, "deleteObject");

    const machine = /only$/.test(words) ? "none" : /folder/.test(words) ? "folders" : "reset";
    assert.equal(get(steps, "machine"), machine, "machine");

    const deleteNode = isWhole || scenario === 6 || words.startsWith("wait until member left etcd");
    assert.equal(get(steps, "deleteNode"), deleteNode, "deleteNode");

    const objectFirst = /^skip etcd removal, (wait for CR|cleanup CR).*happy path/.test(words);
    const order = scenario === 6 ? "leave-first" : objectFirst ? "object-first" : "drain-first";
    if (drain || objectFirst) assert.equal(get(steps, "order"), order, "order");
}

function get(steps: object, key: string): unknown {
    return (steps as Record<string, unknown>)[key];
}
