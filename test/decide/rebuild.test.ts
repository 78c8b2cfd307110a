import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { isAfterEnd } from "../../provider/decide/last-controller";
import { planRebuild } from "../../provider/decide/rebuild";
import type { HostFacts } from "../../provider/facts/host";
import {
    address,
    blankHost,
    CLUSTER_ID,
    cluster,
    controllerHost,
    etcdMember,
    marker,
    member,
    memberId,
    record,
    stopped,
    TOKEN,
} from "./build";
import { leaving, refused } from "./situations";

const again = { nodeName: "c3", peerAddress: address("c3") };
const ghost = cluster({ members: [member("c1"), member("c2"), member("c3", { health: "unhealthy" })] });

function rebuild(host: HostFacts, change: Parameters<typeof leaving>[0] = {}): ReturnType<typeof planRebuild> {
    return planRebuild({ ...leaving({ cluster: ghost, ...change }), host }, again);
}

describe("planning a rebuild", () => {
    it("removes the dead member of a machine that was replaced, and touches nothing on the new one", () => {
        const plan = rebuild(blankHost("c3", { machineId: "machine-new" }));
        assert.ok(plan.kind === "remove");
        assert.deepEqual([plan.member?.id, plan.touchesHost, plan.steps.machine], [memberId("c3"), false, "none"]);
        assert.equal(plan.howToLeave, "member-remove");
    });

    it("resets a machine of ours before it joins again", () => {
        const host = { ...stopped(controllerHost("c3")), data: { ...blankHost("c3").data, exists: true, pki: true } };
        const plan = rebuild(host);
        assert.ok(plan.kind === "remove");
        assert.deepEqual([plan.touchesHost, plan.steps.machine], [true, "reset"]);
    });

    it("is refused where etcd could not add a member afterwards", () => {
        const members = [...ghost.members, member("c4", { health: "unhealthy" }), member("c5")];
        const names = ["c1", "c2", "c3", "c4", "c5"];
        const facts = cluster({ members, etcdMembers: names.map((name) => etcdMember(name)) }, names);
        assert.match(refused(rebuild(blankHost("c3"), { cluster: facts })).what, /^it cannot be added again: 3 of 4/);
    });

    it("is refused where the removal is: without quorum nothing is taken out", () => {
        const two = cluster({ members: [member("c1"), member("c3", { health: "unhealthy" })] }, ["c1", "c3"]);
        assert.equal(refused(rebuild(blankHost("c3"), { cluster: two })).topic, "quorum");
    });

    it("is refused where the name of the new machine belongs to somebody else", () => {
        const host = blankHost("c3", { machineId: "machine-new" });
        const plan = planRebuild({ ...leaving({ cluster: ghost }), host }, { ...again, nodeName: "c2" });
        assert.equal(refused(plan).topic, "name-taken");
    });
});

describe("the end of a cluster", () => {
    const known = { clusterId: CLUSTER_ID, machineId: "machine-c3", token: TOKEN };
    const operation = record("remove", { endsCluster: true });
    const host = (change: Partial<HostFacts> = {}): HostFacts => ({
        ...stopped(controllerHost("c3", { marker: marker("c3", "controller", { operation }) })),
        ...change,
    });

    it("is told by our marker on a stopped controller", () => {
        assert.equal(isAfterEnd(host(), known), true);
        assert.equal(isAfterEnd(blankHost("c3", { marker: host().marker }), known), true);
    });

    it("is not told by a marker of another operation, token, cluster or machine, nor while k0s runs", () => {
        assert.equal(isAfterEnd(host({ marker: marker("c3", "controller") }), known), false);
        const plain = marker("c3", "controller", { operation: record("remove") });
        assert.equal(isAfterEnd(host({ marker: plain }), known), false);
        assert.equal(isAfterEnd(host(), { ...known, token: "another" }), false);
        assert.equal(isAfterEnd(host(), { ...known, clusterId: "another" }), false);
        assert.equal(isAfterEnd(host({ machineId: "another" }), known), false);
        assert.equal(isAfterEnd(host({ runLockHeld: true }), known), false);
        const running = controllerHost("c3", { marker: host().marker });
        assert.equal(isAfterEnd(running, known), false);
    });
});
