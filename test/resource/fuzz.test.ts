import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { silentLog } from "../../provider/log";
import { check } from "../../provider/resource/check";
import { changedInputs, diff } from "../../provider/resource/diff";
import { inputsOf } from "../../provider/resource/state";
import { type Bag, UNKNOWN } from "../../provider/resource/shape";
import { Random } from "../sim/model/random";
import { checked, PROGRAM, stored } from "../support/node-bags";
import { FUZZ_SEED } from "../support/fuzz-seed";

const ROUNDS = 500;

const ODD: readonly unknown[] = [
    null,
    undefined,
    true,
    false,
    0,
    -1,
    -0,
    0.5,
    NaN,
    Infinity,
    2 ** 53,
    "",
    " ",
    "a",
    "ä\u0000\n\u202e",
    "x".repeat(5000),
    "10.0.0.1",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nAA==\n-----END OPENSSH PRIVATE KEY-----",
    "ssh-ed25519 AAAA",
    "__proto__",
    "constructor",
    UNKNOWN,
    [],
    {},
    [[]],
    [null],
    [UNKNOWN],
    { a: UNKNOWN },
    { a: undefined },
    { a: [NaN] },
    JSON.parse('{"__proto__": {"host": 1}, "constructor": 2, "toString": 3, "length": -1}'),
];

/** Bags as Pulumi may send them: a valid one with some places changed, or anything at all. */
class Bags {
    private readonly names = ["__proto__", "toString", "host", "x", "status", "drift", "schemaVersion"];

    constructor(private readonly random: Random) {}

    any(): Bag {
        const base = this.pick([PROGRAM, checked(), checked({}, "worker"), stored(), {}]);
        let bag: unknown = structuredClone(base);
        const changes = 1 + this.below(4);
        for (let change = 0; change < changes; change += 1) bag = this.changed(bag, 4);
        return (typeof bag === "object" && bag !== null && !Array.isArray(bag) ? bag : {}) as Bag;
    }

    /** One place, at most that deep, is another value, is gone, or is there besides. */
    private changed(value: unknown, depth: number): unknown {
        const isLeaf = typeof value !== "object" || value === null || depth === 0;
        if (isLeaf || this.below(6) === 0) return this.pick(ODD);
        if (Array.isArray(value)) {
            const list: readonly unknown[] = value;
            const at = this.below(list.length + 1);
            return [...list.slice(0, at), this.changed(list[at], depth - 1), ...list.slice(at + 1)];
        }
        const key = this.pick([...Object.keys(value), ...this.names]);
        return { ...value, [key]: this.changed((value as Bag)[key], depth - 1) };
    }

    private pick<T>(from: readonly T[]): T {
        return from[this.below(from.length)] as T;
    }

    private below(limit: number): number {
        return Math.floor(this.random.next() * limit);
    }
}

describe(`any input or state (FUZZ_SEED=${FUZZ_SEED})`, () => {
    const bags = new Bags(new Random(FUZZ_SEED));

    for (const kind of ["controller", "worker"] as const) {
        it(`is checked without a fault, with paths and reasons, and the answer is accepted again (${kind})`, () => {
            for (let round = 0; round < ROUNDS; round += 1) {
                const given = bags.any();
                const { inputs, failures } = check(kind, given);
                for (const { property, reason } of failures) {
                    const said = `${property}: ${reason} for ${JSON.stringify(given)}`;
                    assert.ok(reason !== "" && reason.length < 300, said);
                    assert.doesNotMatch(reason, /fault of pulumi-mke/, said);
                }
                if (failures.length === 0) assert.deepEqual(check(kind, inputs), { inputs, failures: [] });
            }
        });
    }

    it("is compared without a fault, and with itself to nothing", () => {
        for (let round = 0; round < ROUNDS; round += 1) {
            const [olds, news] = [bags.any(), bags.any()];
            const { changes, replaces, deleteBeforeReplace } = diff(olds, news, silentLog);
            assert.ok(changes || replaces.length === 0);
            assert.ok(replaces.length > 0 || !deleteBeforeReplace);
            assert.doesNotThrow(() => changedInputs(olds, news));
            assert.doesNotThrow(() => inputsOf(olds));
            const { inputs, failures } = check("controller", news);
            if (failures.length > 0 || JSON.stringify(inputs).includes(UNKNOWN)) continue;
            const found = typeof inputs["nodeName"] === "string" ? { nodeName: inputs["nodeName"] } : {};
            assert.equal(diff(stored(inputs, found), inputs, silentLog).changes, false, JSON.stringify(inputs));
        }
    });
});
