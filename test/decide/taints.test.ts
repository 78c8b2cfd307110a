import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { TAINTS_ANNOTATION } from "../../provider/decide/names";
import { parseTaint, taintDrift, taintsAfter } from "../../provider/decide/taints";
import { node } from "./build";

interface Row {
    readonly title: string;
    readonly found: readonly string[];
    readonly noted?: string;
    readonly wanted: readonly string[];
    readonly previous?: readonly string[];
    /** Default: all. */
    readonly all?: boolean;
    /** undefined: nothing is written. */
    readonly taints?: readonly string[];
    readonly annotation?: string | null;
}

const THEIRS = "theirs=1:NoSchedule";

const ROWS: readonly Row[] = [
    {
        title: "adds what is wanted",
        found: [THEIRS],
        wanted: ["a=1:NoExecute"],
        taints: [THEIRS, "a=1:NoExecute"],
        annotation: "a:NoExecute",
    },
    {
        title: "writes nothing where all is so",
        found: [THEIRS, "a:NoSchedule"],
        noted: "a:NoSchedule",
        wanted: ["a:NoSchedule"],
    },
    { title: "writes nothing where nothing is wanted", found: [THEIRS], wanted: [] },
    {
        title: "takes away what it had set",
        found: [THEIRS, "a:NoSchedule"],
        noted: "a:NoSchedule",
        wanted: [],
        taints: [THEIRS],
        annotation: null,
    },
    {
        title: "takes away what the program named before",
        found: [THEIRS, "a:NoSchedule"],
        previous: ["a:NoSchedule"],
        wanted: [],
        taints: [THEIRS],
    },
    {
        title: "leaves a taint of one key with another effect",
        found: ["a:NoExecute"],
        previous: ["a:NoSchedule"],
        wanted: [],
    },
    {
        title: "exchanges a value",
        found: ["a=1:NoSchedule"],
        noted: "a:NoSchedule",
        wanted: ["a=2:NoSchedule"],
        taints: ["a=2:NoSchedule"],
    },
    { title: "evicts nobody where a node is taken over", found: [THEIRS], wanted: ["a:NoExecute"], all: false },
    {
        title: "notes what is there where a node is taken over",
        found: [THEIRS],
        wanted: [THEIRS],
        all: false,
        annotation: "theirs:NoSchedule",
    },
    {
        title: "leaves another value where a node is taken over",
        found: [THEIRS],
        wanted: ["theirs=2:NoSchedule"],
        all: false,
    },
    {
        title: "puts back what somebody took away",
        found: [],
        noted: "a:NoSchedule",
        wanted: ["a:NoSchedule"],
        all: false,
        taints: ["a:NoSchedule"],
    },
];

describe("the taints of a Node", () => {
    for (const { title, found, noted, wanted, previous = [], all = true, taints, annotation } of ROWS) {
        it(title, () => {
            const annotations = noted === undefined ? {} : { [TAINTS_ANNOTATION]: noted };
            const seen = taintsAfter({ taints: found.map(parseTaint), annotations }, { wanted, previous, all });
            assert.deepEqual(seen, { taints: taints?.map(parseTaint), annotation });
        });
    }

    it("are drift where one of ours is gone or has another value, and no others", () => {
        const annotations = { [TAINTS_ANNOTATION]: "a:NoSchedule,b:NoSchedule" };
        const w1 = node("w1", { annotations, taints: ["a=9:NoSchedule", THEIRS].map(parseTaint) });
        assert.deepEqual(taintDrift(w1, ["a=1:NoSchedule", "b:NoSchedule", "never-set:NoSchedule"]), [
            "taint a:NoSchedule of Node w1 is not as the program says",
            "taint b:NoSchedule of Node w1 is not as the program says",
        ]);
        assert.deepEqual(taintDrift(node("w1"), ["a:NoSchedule"]), []);
        assert.deepEqual(taintDrift(undefined, ["a:NoSchedule"]), []);
    });
});
