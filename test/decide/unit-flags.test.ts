import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { unchangeableFlags, unitAfter, type UnitSettings } from "../../provider/decide/unit-flags";
import { sameFlags } from "../../provider/flags";

function settings(installFlags: readonly string[], taints: readonly string[] = []): UnitSettings {
    return { installFlags, taints };
}

/** A unit as k0sctl and MKE leave one, with flags of ours in it. */
const UNIT = [
    "worker",
    "--data-dir=/var/lib/k0s",
    "--enable-cloud-provider=true",
    "--kubelet-extra-args=--node-ip=10.0.0.1 --v=2",
    "--profile=large",
    "--taints=theirs=1:NoSchedule,ours:NoSchedule",
    "--token-file=/etc/k0s/k0stoken",
];

interface Row {
    readonly title: string;
    readonly before: UnitSettings | readonly UnitSettings[];
    readonly after: UnitSettings;
    /** Arguments that go and come. */
    readonly gone?: readonly string[];
    readonly come?: readonly string[];
    readonly needsRestart?: boolean;
    readonly kept?: readonly string[];
}

const ROWS: readonly Row[] = [
    {
        title: "nothing changed, although the unit has none of it",
        before: settings(["--debug"]),
        after: settings(["--debug"]),
    },
    {
        title: "a flag is added",
        before: settings([]),
        after: settings(["--debug"]),
        come: ["--debug=true"],
        needsRestart: true,
    },
    { title: "a flag is named that is there already", before: settings([]), after: settings(["--profile=large"]) },
    {
        title: "a switch is named that is there already",
        before: settings([]),
        after: settings(["--enable-cloud-provider"]),
    },
    {
        title: "a flag gets another value",
        before: settings(["--profile=large"]),
        after: settings(["--profile=small"]),
        gone: ["--profile=large"],
        come: ["--profile=small"],
        needsRestart: true,
    },
    {
        title: "a flag of ours is dropped",
        before: settings(["--profile=large"]),
        after: settings([]),
        gone: ["--profile=large"],
        needsRestart: true,
    },
    {
        title: "a flag is dropped that has somebody else's value",
        before: settings(["--profile=small"]),
        after: settings([]),
        kept: ["--profile"],
    },
    { title: "a flag is dropped that is not there", before: settings(["--debug"]), after: settings([]) },
    {
        title: "a short name is what k0s made of it",
        before: settings(["-d"]),
        after: settings(["-d", "-v"]),
        come: ["--verbose=true"],
        needsRestart: true,
    },
    {
        title: "a flag is given twice, which k0s joins",
        before: settings([]),
        after: settings(["--disable-components=helm", "--disable-components=coredns"]),
        come: ["--disable-components=helm", "--disable-components=coredns"],
        needsRestart: true,
    },
    {
        title: "kubelet gets another argument",
        before: settings(["--kubelet-extra-args=--v=2"]),
        after: settings(["--kubelet-extra-args=--v=4"]),
        gone: ["--kubelet-extra-args=--node-ip=10.0.0.1 --v=2"],
        come: ["--kubelet-extra-args=--node-ip=10.0.0.1 --v=4"],
        needsRestart: true,
    },
    {
        title: "kubelet loses ours",
        before: settings(["--kubelet-extra-args=--v=2"]),
        after: settings([]),
        gone: ["--kubelet-extra-args=--node-ip=10.0.0.1 --v=2"],
        come: ["--kubelet-extra-args=--node-ip=10.0.0.1"],
        needsRestart: true,
    },
    {
        title: "taints change, which a running node does not look at",
        before: settings([], ["ours:NoSchedule"]),
        after: settings([], ["new=1:NoExecute"]),
        gone: ["--taints=theirs=1:NoSchedule,ours:NoSchedule"],
        come: ["--taints=theirs=1:NoSchedule,new=1:NoExecute"],
    },
    {
        title: "an interrupted change is taken back",
        before: [settings([]), settings(["--profile=large"])],
        after: settings([]),
        gone: ["--profile=large"],
        needsRestart: true,
    },
    {
        title: "an interrupted change is finished",
        before: [settings(["--debug"]), settings(["--profile=large"])],
        after: settings(["--profile=large"]),
    },
];

describe("the arguments of a running service", () => {
    for (const { title, before, after, gone = [], come = [], needsRestart = false, kept = [] } of ROWS) {
        it(`when ${title}`, () => {
            const found = unitAfter(UNIT, "installFlags" in before ? [before] : before, after);
            assert.deepEqual(
                found.args.filter((arg) => !UNIT.includes(arg)),
                come,
            );
            assert.deepEqual(
                UNIT.filter((arg) => !found.args.includes(arg)),
                gone,
            );
            assert.deepEqual([found.needsRestart, found.kept], [needsRestart, kept]);
            assert.equal(
                found.args === UNIT,
                gone.length + come.length === 0,
                "the same list, so that nothing is written",
            );
            assert.ok(found.args.includes("--token-file=/etc/k0s/k0stoken"));
        });
    }

    it("are the same for --flag and --flag=true, in whatever order of their names, and not for two values in another order", () => {
        assert.equal(sameFlags(["--debug", "--profile=a"], ["--profile=a", "--debug=true"]), true);
        assert.equal(sameFlags(["--debug"], ["--debug=false"]), false);
        assert.equal(sameFlags(["--debug"], []), false);
        assert.equal(
            sameFlags(
                ["--feature-gates=A=true", "--feature-gates=A=false"],
                ["--feature-gates=A=false", "--feature-gates=A=true"],
            ),
            false,
        );
    });

    it("do not hold the environment, which only an installation writes", () => {
        assert.deepEqual(unchangeableFlags([settings(["--env=A=1"])], settings(["--env=A=2"])), ["--env"]);
        assert.deepEqual(unchangeableFlags([settings([])], settings(["-e=A=2"])), ["-e"]);
        assert.deepEqual(unchangeableFlags([settings(["--env=A=1"])], settings(["--env=A=1", "--debug"])), []);
    });
});
