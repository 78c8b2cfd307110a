import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { diff } from "../../provider/resource/diff";
import { type Bag, UNKNOWN } from "../../provider/resource/shape";
import { checked, stored } from "../support/node-bags";

const LETTERS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

describe("the reason of a change", () => {
    function reason(before: Bag, news: Bag): string {
        const lines: string[] = [];
        diff(stored(checked(before)), news, { line: (text) => lines.push(text) });
        assert.ok(lines.length <= 1);
        return lines[0] ?? "";
    }

    const reasons: readonly [before: Bag, after: Bag, reason: string][] = [
        [{}, {}, ""],
        [{}, { labels: { zone: "a" } }, "will be updated: labels.zone changed"],
        [{ labels: { zone: "a" } }, {}, "will be updated: labels.zone changed"],
        [{}, { connection: { port: 2222 } }, "will be updated: connection.port changed"],
        [{}, { taints: ["a:NoSchedule"], drain: { timeout: 1 } }, "will be updated: taints, drain.timeout changed"],
        [{}, { host: "10.0.0.13", labels: { zone: "a" } }, "will be replaced: host changed"],
        [{}, { role: "controller", dataDir: "/srv/k0s" }, "will be replaced: role, dataDir changed"],
        [
            {},
            { labels: Object.fromEntries(LETTERS.map((key) => [key, ""])) },
            `will be updated: ${LETTERS.slice(0, 8)
                .map((key) => `labels.${key}`)
                .join(", ")}, 2 more changed`,
        ],
    ];
    for (const [before, after, expected] of reasons) {
        it(`is ${JSON.stringify(expected)} for ${JSON.stringify(after)} after ${JSON.stringify(before)}`, () => {
            const sorted = (line: string): string[] => line.split(/[ ,]+/).sort();
            assert.deepEqual(sorted(reason(before, checked(after))), sorted(expected));
        });
    }

    it("tells what is not known yet from what changed", () => {
        assert.equal(reason({}, { ...checked(), host: UNKNOWN }), "will be replaced: host not known yet");
        assert.equal(
            reason({}, { ...checked({ labels: { zone: "a" } }), drain: UNKNOWN }),
            "will be updated: labels.zone changed; drain not known yet",
        );
    });

    it("never has a value in it", () => {
        const secrets = { registry: { username: "reader", password: "planted-1" }, labels: { zone: "planted-2" } };
        const line = reason({ triggers: ["planted-3"] }, checked(secrets));
        assert.equal(line, "will be replaced: triggers changed");
        assert.doesNotMatch(reason({}, checked(secrets)), /planted/);
    });
});
