import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { givenFlags, lostFlags, missingFlags, withoutMissing } from "../../provider/decide/flag-drift";
import { unitAfter } from "../../provider/decide/unit-flags";
import { repairFor } from "../../provider/decide/repair";
import type { HostMarker } from "../../provider/facts/host";
import { marker, record, unit } from "./build";
import { situation, w1 } from "./repair-situation";

const PROGRAM = ["--debug", "--profile=x", "--feature-gates=A=true", "--kubelet-extra-args=--max-pods=9 --v=2"];
const UNIT = [
    ...["/usr/local/bin/k0s", "worker", "--data-dir=/var/lib/k0s", "--token-file=/etc/k0s/k0stoken"],
    "--kubelet-extra-args=--node-ip=10.0.0.11 --max-pods=9 --v=2",
    ...["--debug=true", "--feature-gates=A=true", "--profile=x", "--theirs=1"],
];

/** What a service was given, by its arguments then. */
const noted = (args = UNIT, change: Partial<HostMarker> = {}): HostMarker =>
    marker("w1", "worker", { flags: givenFlags(args, PROGRAM), ...change });
const without = (...names: string[]): string[] => UNIT.filter((arg) => !names.some((name) => arg.startsWith(name)));

describe("flags that somebody took out of a service", () => {
    it("are told from what the service was given, whatever k0s made of its spelling", () => {
        const spelled = [...without("--profile"), "--profile=X", "--profile=rewritten"];
        assert.deepEqual(lostFlags(noted(spelled), spelled, PROGRAM), []);
        assert.deepEqual(lostFlags(noted(), UNIT, PROGRAM), []);
        assert.deepEqual(lostFlags(noted(), [...without("--debug"), "-d"], PROGRAM), []);
        assert.deepEqual(lostFlags(noted(), [...without("--debug"), "--debug"], PROGRAM), []);
    });

    const cases: readonly [title: string, args: readonly string[], lost: readonly string[]][] = [
        ["one is gone", without("--debug"), ["--debug"]],
        ["one has another value", [...without("--profile"), "--profile=y"], ["--profile"]],
        ["several are gone", without("--debug", "--profile"), ["--debug", "--profile"]],
        [
            "one of kubelet's is gone",
            [...without("--kubelet-extra-args"), "--kubelet-extra-args=--node-ip=10.0.0.11 --v=2"],
            ["--kubelet-extra-args"],
        ],
        [
            "one of kubelet's that is not the program's is gone",
            [...without("--kubelet-extra-args"), "--kubelet-extra-args=--v=2 --max-pods=9"],
            [],
        ],
        ["one is gone that is not the program's", without("--theirs", "--token-file"), []],
    ];
    for (const [title, args, lost] of cases) {
        it(`are ${lost.join(", ") || "none"} where ${title}`, () => {
            assert.deepEqual(lostFlags(noted(), args, PROGRAM).sort(), lost);
        });
    }

    it("are none on an adopted node, in a change that did not end, and where the program names them no longer", () => {
        const args = without("--debug");
        assert.deepEqual(lostFlags(marker("w1", "worker"), args, PROGRAM), []);
        assert.deepEqual(lostFlags(undefined, args, PROGRAM), []);
        assert.deepEqual(lostFlags(noted(UNIT, { operation: record("reinstall") }), args, PROGRAM), []);
        assert.deepEqual(lostFlags(noted(), args, ["--profile=x"]), []);
        assert.deepEqual(lostFlags(noted(), undefined, PROGRAM), []);
    });

    it("are given back as if newly named, and where the program changes the same flag, its old value still goes", () => {
        const given = (installFlags: readonly string[]) => ({ installFlags, taints: [] });
        const old = given(["--debug", "--kubelet-extra-args=--v=2 --max-pods=9"]);
        const lost = ["--debug", "--kubelet-extra-args"];
        assert.deepEqual(withoutMissing(old, [old.installFlags], lost), given([]));
        const wanted = ["--debug=true", "--kubelet-extra-args=--v=2"];
        const before = withoutMissing(old, [wanted], lost);
        assert.deepEqual(before, given(["--kubelet-extra-args=--v=2 --max-pods=9"]));
        const { args } = unitAfter(["worker", "--kubelet-extra-args=--theirs=1 --max-pods=9"], [before], given(wanted));
        assert.deepEqual(args, ["worker", "--kubelet-extra-args=--theirs=1 --v=2", "--debug=true"]);
    });

    it("are still known where giving them back was killed, but not where the program took its own change back", () => {
        const reinstall = record("reinstall");
        const left = noted(UNIT, { operation: reinstall });
        assert.deepEqual(missingFlags(left, without("--debug"), PROGRAM), ["--debug"]);
        assert.deepEqual(missingFlags(left, UNIT, PROGRAM), []);
        const before = { installFlags: PROGRAM, taints: [] };
        const changed = PROGRAM.map((flag) => (flag === "--profile=x" ? "--profile=y" : flag));
        assert.equal(
            withoutMissing(before, [PROGRAM, changed], ["--profile"]).installFlags.includes("--profile=x"),
            true,
        );
    });

    it("are drift in words that hold no value", () => {
        const host = { ...w1, marker: noted(), units: { ...w1.units, worker: unit(without("--profile")) } };
        const { drift, action } = repairFor({ ...situation("w1", host, {}), installFlags: PROGRAM });
        assert.deepEqual([drift, action], [["flag --profile of its service is not as the program says"], "reclaim"]);
    });
});
