import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { MkeReleaseObject } from "../../provider/adapters/kube/mke";
import { redistributed, releaseFor, unsettled } from "../../provider/decide/mke-state";
import { mkeConfig, workload } from "../support/fake-mke";

const release = (name: string, version?: string): MkeReleaseObject => ({ name, version, ready: true, state: "" });

describe("the MkeRelease of a version", () => {
    const others = [release("mke-4.2.0", "v4.2.0"), release("mke-14.2.1")];
    const found: readonly [string, MkeReleaseObject[], string | undefined][] = [
        ["by its version", [release("x", "v4.2.1")], "x"],
        ["by its version without v", [release("x", "4.2.1")], "x"],
        ["by its name", [release("v4.2.1")], "v4.2.1"],
        ["by a name that cannot hold dots", [release("mke-v4-2-1")], "mke-v4-2-1"],
        ["by its version before a name", [release("mke-4.2.1", "v4.2.9"), release("x", "v4.2.1")], "x"],
        ["not at all", [], undefined],
        ["not by a part of another version", [release("mke-4-2-10")], undefined],
    ];
    for (const [how, releases, name] of found) {
        it(`is found ${how}`, () => assert.equal(releaseFor("v4.2.1", [...others, ...releases])?.name, name));
    }

    it("is found for a release candidate", () => {
        assert.equal(
            releaseFor("v4.2.0-rc.8", [release("mke-4.2.0"), release("mke-4-2-0-rc-8")])?.name,
            "mke-4-2-0-rc-8",
        );
    });
});

describe("what of MKE has not come to rest", () => {
    const open: readonly [string, Parameters<typeof unsettled>, RegExp | undefined][] = [
        ["nothing", [mkeConfig(), [workload("a")]], undefined],
        ["nothing without an MkeConfig and workloads", [undefined, []], undefined],
        [
            "nothing of paused and hand-rolled workloads",
            [mkeConfig(), [workload("a", { paused: true, updated: 0 }), workload("b", { rolls: false, updated: 0 })]],
            undefined,
        ],
        [
            "nothing where none is wanted",
            [mkeConfig(), [workload("a", { wanted: 0, replicas: 0, updated: 0, ready: 0 })]],
            undefined,
        ],
        [
            "nothing of conditions that say so",
            [
                mkeConfig({
                    conditions: [
                        { type: "Ready", status: "True", message: "" },
                        { type: "Progressing", status: "False", message: "" },
                    ],
                }),
                [],
            ],
            undefined,
        ],
        [
            "an operator that has not looked",
            [mkeConfig({ generation: 2, observedGeneration: 1 }), []],
            /operator has not looked/,
        ],
        [
            "an MkeConfig that is not Ready",
            [mkeConfig({ conditions: [{ type: "Ready", status: "False", message: "scaling" }] }), []],
            /Ready=False: scaling/,
        ],
        [
            "an MkeConfig that is busy",
            [mkeConfig({ conditions: [{ type: "Progressing", status: "True", message: "" }] }), []],
            /Progressing=True/,
        ],
        [
            "a workload that was not looked at",
            [mkeConfig(), [workload("a", { generation: 2 })]],
            /mke\/a was not looked at/,
        ],
        ["too few updated", [mkeConfig(), [workload("a", { updated: 1 })]], /mke\/a has 1 of 2 replicas updated/],
        ["old ones left", [mkeConfig(), [workload("a", { replicas: 3 })]], /3 in all/],
        ["one that is not ready", [mkeConfig(), [workload("a", { ready: 1 })]], /1 ready/],
    ];
    for (const [what, given, words] of open) {
        it(what, () => {
            const found = unsettled(...given);
            if (words === undefined) assert.deepEqual(found, []);
            else assert.match(found.join(), words);
        });
    }
});

describe("what a redistribution restarts", () => {
    it("is what a chart deployed, and can be restarted", () => {
        const workloads = [
            workload("yes"),
            workload("set", { kind: "StatefulSet" }),
            workload("by hand", { labels: { app: "mine" } }),
            workload("paused", { paused: true }),
            workload("on delete", { rolls: false }),
            workload("off", { wanted: 0 }),
        ];
        assert.deepEqual(
            redistributed(workloads).map(({ name }) => name),
            ["yes", "set"],
        );
    });
});
