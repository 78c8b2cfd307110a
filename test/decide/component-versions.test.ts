import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type Versions, versionConflicts } from "../../provider/decide/component-versions";
import { mkeConfig } from "../support/fake-mke";
import { cluster, controlNode, node } from "./build";

const THEIRS = "v1.36.3+k0s.2";
const versions = (change: Partial<Versions> = {}): Versions => ({
    cluster: cluster(),
    nodeName: "c4",
    plans: [],
    mkeConfig: undefined,
    ...change,
});
const installs = (kind: "controller" | "worker", version: string): Partial<Versions> => ({
    installs: { kind, version },
});
const labelled = (name: string, version: string, role = "node-role.kubernetes.io/control-plane") =>
    node(name, { labels: { [role]: "true", "mke/version": version } });

const ofVersion = (k0sVersion: string) => {
    const { helper, ...rest } = cluster({ controlNodes: [] });
    return { ...rest, helper: { ...helper, k0sVersion } };
};

const CASES: readonly [string, Partial<Versions>, RegExp | undefined][] = [
    ["a removal from a cluster that is alike", {}, undefined],
    ["a controller of the cluster's version", installs("controller", THEIRS), undefined],
    [
        "a controller of a newer patch",
        installs("controller", "v1.36.4+k0s.0"),
        /v1\.36\.4\+k0s\.0 would be installed, the cluster runs/,
    ],
    ["a controller of another build", installs("controller", "v1.36.3+k0s.1"), /would be installed/],
    ["a worker of the cluster's version", installs("worker", THEIRS), undefined],
    ["a worker of an older minor", installs("worker", "v1.35.9+k0s.0"), undefined],
    ["a worker of a newer patch", installs("worker", "v1.36.9+k0s.0"), undefined],
    ["a worker of a newer minor", installs("worker", "v1.37.0+k0s.0"), /worker's k0s v1\.37\.0\+k0s\.0 would be newer/],
    ["a worker of a newer major", installs("worker", "v2.0.0+k0s.0"), /newer/],
    ["a worker of the oldest minor that is installed", installs("worker", "v1.34.0+k0s.0"), undefined],
    [
        "a worker of an older one",
        installs("worker", "v1.33.9+k0s.0"),
        /v1\.33\.9\+k0s\.0 would be installed, .* 1\.34 or newer/,
    ],
    [
        "a controller of an older cluster",
        { ...installs("controller", "v1.33.9+k0s.0"), cluster: ofVersion("v1.33.9+k0s.0") },
        /new nodes need 1\.34 or newer/,
    ],
    ["a removal from an older cluster", { cluster: ofVersion("v1.33.9+k0s.0") }, undefined],
    ["a worker whose version says nothing", installs("worker", "latest"), /cannot be compared/],
    [
        "a controller that differs",
        { cluster: cluster({ controlNodes: [controlNode("c2", { k0sVersion: "v1.35.4+k0s.0" })] }) },
        /controller c2 runs k0s v1\.35\.4/,
    ],
    [
        "the target itself differing",
        { nodeName: "c2", cluster: cluster({ controlNodes: [controlNode("c2", { k0sVersion: "v1.35.4+k0s.0" })] }) },
        undefined,
    ],
    [
        "a plan nobody looked at",
        { plans: [{ name: "autopilot", state: "" }] },
        /plan autopilot is unfinished \(not looked at yet\)/,
    ],
    [
        "a plan that waits",
        { plans: [{ name: "autopilot", state: "SchedulableWait" }] },
        /unfinished \(SchedulableWait\)/,
    ],
    ["a plan under way", { plans: [{ name: "autopilot", state: "Schedulable" }] }, /unfinished/],
    ["a plan in a state nobody knows", { plans: [{ name: "autopilot", state: "Resting" }] }, /unfinished/],
    [
        "plans that ended",
        {
            plans: ["Completed", "IncompleteTargets", "Restricted", "ApplyFailed"].map((state) => ({
                name: "p",
                state,
            })),
        },
        undefined,
    ],
    ["an MKE that says nothing of upgrades", { mkeConfig: mkeConfig() }, undefined],
    ["an MKE at its version", { mkeConfig: mkeConfig({ appliedVersion: "4.2.1", phase: "Ready" }) }, undefined],
    [
        "an MKE at another version",
        { mkeConfig: mkeConfig({ appliedVersion: "v4.2.0" }) },
        /wants version v4\.2\.1, its status says v4\.2\.0/,
    ],
    ["an MKE in an upgrade, by phase", { mkeConfig: mkeConfig({ phase: "Upgrading" }) }, /MkeConfig says Upgrading/],
    [
        "an MKE in an upgrade, by condition",
        { mkeConfig: mkeConfig({ conditions: [{ type: "UpgradeInProgress", status: "True", message: "2 of 3" }] }) },
        /UpgradeInProgress: 2 of 3/,
    ],
    [
        "an MKE whose upgrade is over, by condition",
        { mkeConfig: mkeConfig({ conditions: [{ type: "Upgrading", status: "False", message: "" }] }) },
        undefined,
    ],
    [
        "nodes at MKE's version",
        { mkeConfig: mkeConfig(), cluster: cluster({ nodes: [labelled("c1", "v4.2.1"), node("c2")] }) },
        undefined,
    ],
    [
        "a controller left behind by an upgrade",
        { mkeConfig: mkeConfig(), cluster: cluster({ nodes: [labelled("c1", "v4.2.0")] }) },
        /Node c1 is at MKE v4\.2\.0, MkeConfig wants v4\.2\.1/,
    ],
    [
        "the target left behind by an upgrade",
        { nodeName: "c1", mkeConfig: mkeConfig(), cluster: cluster({ nodes: [labelled("c1", "v4.2.0")] }) },
        undefined,
    ],
    [
        "a worker with an old label",
        { mkeConfig: mkeConfig(), cluster: cluster({ nodes: [labelled("w1", "v4.2.0", "x")] }) },
        undefined,
    ],
];

describe("versions before an operation", () => {
    for (const [what, change, words] of CASES) {
        it(`${words === undefined ? "allow" : "forbid"} ${what}`, () => {
            const found = versionConflicts(versions(change));
            if (words === undefined) assert.deepEqual(found, []);
            else assert.match(found.join("; "), words);
        });
    }
});
