import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../provider/log";
import { silentLog } from "../../provider/log";
import { changedInputs, diff, difference, EFFECTS, isStoredOnly } from "../../provider/resource/diff";
import { NODE_FIELDS } from "../../provider/resource/schema";
import { type Bag, isBag, UNKNOWN } from "../../provider/resource/shape";
import type { FoundOutputs } from "../../provider/resource/state";
import { checked, stored } from "../support/node-bags";
import { root } from "../support/root";
import { newSshKey } from "../support/ssh-key";

const NOTHING = { changes: false, replaces: [], deleteBeforeReplace: false };
const UPDATE = { changes: true, replaces: [], deleteBeforeReplace: false };

function compare(before: Bag, after: Bag, found: Partial<FoundOutputs> = {}): ReturnType<typeof diff> {
    return diff(stored(checked(before), found), checked(after), silentLog);
}

/** A checked value for every input, unlike the default, and alike only where it is the same input. */
const OTHER: Readonly<Record<string, Bag>> = {
    host: { host: "10.0.0.99" },
    connection: { connection: { user: "admin", port: 2222 } },
    cluster: { cluster: { controllers: [{ host: "10.0.0.13" }, { host: "10.0.0.14" }], maxControllers: 5 } },
    role: { role: "controller" },
    nodeName: { nodeName: "other" },
    privateAddress: { privateAddress: "192.168.0.1" },
    k0s: { k0s: { version: "v1.37.0+k0s.0", downloadUrl: "https://a/k0s" } },
    dataDir: { dataDir: "/srv/k0s" },
    kubeletRootDir: { kubeletRootDir: "/srv/kubelet" },
    installFlags: { installFlags: ["--no-taints"] },
    labels: { labels: { zone: "a" } },
    taints: { taints: ["a:NoSchedule"] },
    k0sConfig: { k0sConfig: { spec: { network: { provider: "calico" } } } },
    drain: { drain: { timeout: 1 } },
    timeouts: { timeouts: { ready: 1 } },
    preflight: { preflight: { minCpus: false } },
    onUnreachable: { onUnreachable: "remove-from-cluster" },
    onLastController: { onLastController: "reset" },
    backup: { backup: { skip: true } },
    lock: { lock: { adoptStale: true } },
    mke: { mke: { redistributeWorkloads: false } },
    registry: { registry: { username: "reader", password: "planted" } },
    adopt: { adopt: "takeOver" },
    allowStrandedWorkers: { allowStrandedWorkers: true },
    triggers: { triggers: ["2"] },
    owner: { owner: "organization/mke/test/renamed" },
};

describe("diff", () => {
    it("knows every input, and no other property", () => {
        assert.deepEqual(Object.keys(EFFECTS).sort(), Object.keys(NODE_FIELDS.controller).sort());
        assert.deepEqual(Object.keys(OTHER).sort(), Object.keys(EFFECTS).sort());
    });

    it("takes inputs of an earlier version for what they mean today, as at the end of a refresh", () => {
        const { backup: _, lock: __, ...older } = checked({});
        assert.deepEqual(diff(stored(checked({})), older, silentLog), NOTHING);
    });

    it("takes an earlier default for today's, and a program that names it by its word", () => {
        assert.deepEqual(compare({ timeouts: { api: 180 } }, {}), NOTHING);
        assert.deepEqual(compare({ timeouts: { api: 180 } }, { timeouts: { api: 180 } }), NOTHING);
        assert.deepEqual(compare({ timeouts: { api: 180 } }, { timeouts: { api: 200 } }), UPDATE);
        assert.deepEqual(compare({ timeouts: { api: 200 } }, {}), UPDATE);
    });

    it("finds nothing when nothing changed", () => {
        assert.deepEqual(compare({}, {}), NOTHING);
        for (const other of Object.values(OTHER)) {
            // A node that was made with an explicit name is called so.
            const found = "nodeName" in other ? { nodeName: "other" } : {};
            assert.deepEqual(compare(other, other, found), NOTHING);
        }
    });

    for (const [name, effect] of Object.entries(EFFECTS)) {
        it(`answers ${effect} when ${name} changes`, () => {
            const result = compare({}, OTHER[name] ?? {});
            assert.deepEqual(result.replaces, effect === "replace" ? [name] : []);
            assert.equal(result.changes, true);
        });

        it(`answers the same for ${name} while its value is not known`, () => {
            const result = diff(stored(), { ...checked(), [name]: UNKNOWN }, silentLog);
            assert.deepEqual(result.replaces, effect === "replace" ? [name] : []);
            assert.equal(result.changes, true);
        });
    }

    it("treats a value that is unknown deep inside as a change of its input", () => {
        const triggers = diff(stored(), { ...checked(), triggers: [{ id: UNKNOWN }] }, silentLog);
        assert.deepEqual(triggers.replaces, ["triggers"]);
        const connection = { ...(checked()["connection"] as Bag), privateKey: UNKNOWN };
        assert.deepEqual(diff(stored(), { ...checked(), connection }, silentLog), UPDATE);
    });

    it("never replaces for a property that nobody thought of", () => {
        assert.deepEqual(diff(stored(), { ...checked(), invented: "x" }, silentLog), UPDATE);
    });

    it("does not mind the text of the stub, or outputs of another version", () => {
        const olds = { ...stored(), __provider: "old text", leftover: 1 };
        assert.deepEqual(diff(olds, { ...checked(), __provider: "new text" }, silentLog), NOTHING);
    });

    it("takes --flag and --flag=true for the same, and a flag that is not known yet for a change", () => {
        assert.deepEqual(compare({ installFlags: ["--debug"] }, { installFlags: ["--debug=true"] }), NOTHING);
        assert.deepEqual(compare({ installFlags: ["--debug"] }, { installFlags: ["--debug=false"] }), UPDATE);
        const unknown = diff(stored(), { ...checked(), installFlags: [UNKNOWN] }, silentLog);
        assert.deepEqual(unknown, UPDATE);
    });

    it("sees an input that was taken out", () => {
        assert.deepEqual(compare({ connection: { privateKey: newSshKey() } }, {}), UPDATE);
        assert.deepEqual(compare({ labels: { zone: "a" } }, {}), UPDATE);
        assert.deepEqual(compare({ kubeletRootDir: "/srv/kubelet" }, {}).replaces, ["kubeletRootDir"]);
    });
});

describe("diff of names and addresses", () => {
    it("keeps a node that is named what it is called already", () => {
        assert.deepEqual(compare({}, { nodeName: "c2" }), UPDATE);
        assert.deepEqual(compare({ host: "c2.example" }, { host: "c2.example", privateAddress: "10.0.0.12" }), UPDATE);
        assert.deepEqual(compare({}, { kubeletRootDir: "/var/lib/k0s/kubelet" }), UPDATE);
    });

    it("keeps a worker whatever address is named for it, and a controller to whose address a second one comes", () => {
        const named = checked({ privateAddress: "10.9.0.12" }, "worker");
        assert.deepEqual(diff(stored(checked({}, "worker")), named, silentLog), UPDATE);
        assert.deepEqual(compare({}, { privateAddress: "10.9.0.12" }).replaces, ["privateAddress"]);
        assert.deepEqual(compare({}, { privateAddress: "10.0.0.12,fd00::12" }), UPDATE);
        assert.deepEqual(compare({}, { privateAddress: "fd00::12,10.0.0.12" }).replaces, ["privateAddress"]);
    });

    it("keeps a node whose name or address is no longer given", () => {
        assert.deepEqual(compare({ nodeName: "c2" }, {}), UPDATE);
        assert.deepEqual(compare({ privateAddress: "10.0.0.12" }, {}), UPDATE);
    });

    const order: readonly [why: string, before: Bag, after: Bag, deleteFirst: boolean][] = [
        ["another machine with another name", {}, { host: "10.0.0.13" }, false],
        ["another role on the same machine", {}, { role: "controller" }, true],
        ["triggers on the same machine", {}, { triggers: [1] }, true],
        [
            "another machine with the same private address",
            { privateAddress: "10.1.0.1" },
            { host: "x", privateAddress: "10.1.0.1" },
            true,
        ],
        ["another machine with the same explicit name", { nodeName: "c2" }, { host: "x", nodeName: "c2" }, true],
        ["another machine that gets the name of this one", {}, { host: "x", nodeName: "c2" }, true],
        ["another machine with another explicit name", { nodeName: "c2" }, { host: "x", nodeName: "c3" }, false],
        ["the machine's address in place of its name", { host: "c2.example" }, { host: "10.0.0.12" }, true],
    ];
    for (const [why, before, after, deleteFirst] of order) {
        it(`${deleteFirst ? "deletes first" : "creates first"}: ${why}`, () => {
            const result = compare(before, after);
            assert.notDeepEqual(result.replaces, []);
            assert.equal(result.deleteBeforeReplace, deleteFirst);
        });
    }

    it("creates first on a host that is not known yet", () => {
        const result = diff(
            stored(),
            { ...checked(), host: UNKNOWN, privateAddress: UNKNOWN, nodeName: UNKNOWN },
            silentLog,
        );
        assert.equal(result.deleteBeforeReplace, false);
    });
});

describe("diff of what was found", () => {
    function logged(
        found: Partial<FoundOutputs>,
        after: Bag = {},
    ): { result: ReturnType<typeof diff>; lines: string[] } {
        const lines: string[] = [];
        const log: Log = { line: (text) => lines.push(text) };
        return { result: diff(stored(checked(), found), checked(after), log), lines };
    }

    for (const status of ["joining", "degraded", "unreachable"] as const) {
        it(`updates a node that is ${status}, and says so`, () => {
            const { result, lines } = logged({ status });
            assert.deepEqual(result, UPDATE);
            assert.deepEqual(lines, [`will be updated: its status is ${status}`]);
        });
    }

    it("updates for drift, never replaces, and gives the reason in one line", () => {
        const { result, lines } = logged({
            status: "degraded",
            drift: ["k0sworker is stopped", "Node w1 is cordoned"],
        });
        assert.deepEqual(result, UPDATE);
        assert.deepEqual(lines, ["will be updated: k0sworker is stopped; Node w1 is cordoned"]);
    });

    it("says nothing about drift of a node that will be replaced", () => {
        const { result, lines } = logged({ drift: ["k0sworker is stopped"] }, { host: "10.0.0.13" });
        assert.deepEqual([result.replaces, lines], [["host"], ["will be replaced: host changed"]]);
    });

    it("says in the same line what else changed, after the drift", () => {
        const { lines } = logged(
            { state: "rebuild: k0s is not installed", drift: ["k0s is not installed"] },
            OTHER["labels"],
        );
        assert.deepEqual(lines, ["will be updated: rebuild: k0s is not installed; labels.zone changed"]);
    });

    it("does not mind another version of k0s", () => {
        assert.deepEqual(logged({ k0sVersion: "v1.37.0+k0s.0" }).result, NOTHING);
    });

    it("does not mind state of a version without an input that has a default", () => {
        const { preflight: _, ...older } = stored();
        assert.deepEqual(diff(older, checked(), silentLog), NOTHING);
    });
});

describe("diff never", () => {
    it("throws, whatever is in the state", () => {
        for (const olds of [
            {},
            { host: null },
            { connection: 5, cluster: [], drift: "x", role: {} },
            { __provider: 1 },
        ]) {
            assert.equal(diff(olds, checked(), silentLog).changes, true);
            assert.doesNotThrow(() => diff(stored(), olds, silentLog));
            assert.doesNotThrow(() => diff(stored(), { ...olds, host: { toString: 3 } }));
        }
        const broken = Object.defineProperty({ ...stored() }, "drift", {
            get: () => {
                throw new Error("broken");
            },
        });
        assert.deepEqual(diff(broken, checked(), silentLog), UPDATE);
    });

    it("logs a value of the state other than drift and status", () => {
        const lines: string[] = [];
        const secret = newSshKey();
        const olds = stored(checked({ connection: { privateKey: secret } }), { drift: ["k0s is stopped"] });
        diff(olds, checked(), { line: (text) => lines.push(text) });
        assert.equal(lines.length, 1);
        for (const line of secret.trim().split("\n")) assert.ok(!lines.join().includes(line));
    });
});

describe("changed inputs", () => {
    it("tell an update what there is to do", () => {
        const olds = stored();
        assert.deepEqual(changedInputs(olds, checked({ labels: { a: "b" }, drain: { timeout: 1 } })).sort(), [
            "drain",
            "labels",
        ]);
        assert.equal(isStoredOnly(changedInputs(olds, checked({ k0s: { version: "v1.37.0" } }))), true);
        assert.equal(isStoredOnly(changedInputs(olds, checked({ labels: { a: "b" } }))), false);
        assert.equal(isStoredOnly(["invented"]), false);
        assert.equal(difference(olds, checked()).reason, undefined);
    });
});

describe("docs/inputs.md", () => {
    const text = readFileSync(join(root, "docs/inputs.md"), "utf8").replace(/ +/g, " ");

    it("has the effect of every input as the code has it", () => {
        const rows = text.matchAll(/^\| `(\w+)` .*\| (replace|update|store|—) \|$/gm);
        const documented = Object.fromEntries(
            [...rows].map(([, name = "", effect]): [string, unknown] => [name, effect]),
        );
        const { owner: _, ...effects } = EFFECTS;
        assert.deepEqual(documented, { ...effects, allowSkippedRemoval: "—" });
    });

    it("has every default as the code has it", () => {
        const { host: _h, owner: _o, cluster, ...inputs } = checked();
        const { controllers: _, ...limits } = cluster as Bag;
        for (const [name, value] of leaves({ ...inputs, cluster: limits })) {
            const cell = typeof value === "string" ? value : JSON.stringify(value);
            const row = new RegExp(`^\\| \`${name}\` .*\\| \`${escaped(cell)}\` \\|`, "m");
            assert.match(text, row);
        }
    });
});

function escaped(literal: string): string {
    return literal.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function leaves(bag: Bag, prefix = ""): [string, unknown][] {
    return Object.entries(bag).flatMap(([name, value]) =>
        isBag(value) && Object.keys(value).length > 0
            ? leaves(value, `${prefix}${name}.`)
            : [[`${prefix}${name}`, value]],
    );
}
