import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { clusterProblems } from "../../provider/decide/cluster-health";
import type { ClusterFacts } from "../../provider/facts/cluster";
import { cluster, controlNode, etcdMember, member, memberId, node, NOW } from "./build";

const nobody = { nodeNames: [], memberIds: [] };
const two = [member("c1"), member("c2")];

function problems(change: Partial<ClusterFacts>, exempt = nobody as Parameters<typeof clusterProblems>[1]) {
    return clusterProblems(cluster(change), exempt).map(({ what, transient, topic }) => [what, transient, topic]);
}

describe("the health of a cluster", () => {
    it("finds nothing wrong with a healthy one", () => assert.deepEqual(problems({}), []));

    it("waits for a controller's NotReady Node while the control plane is worked on, and for no worker's", () => {
        const nodes = [node("c1"), node("c3", { ready: false }), node("w1", { ready: false })];
        const moving = { ...nobody, controlPlaneMoves: true };
        const found = (exempt: typeof nobody): unknown => problems({ nodes }, exempt).map(([, transient]) => transient);
        assert.deepEqual(
            [found(moving), found(nobody)],
            [
                [true, false],
                [false, false],
            ],
        );
    });

    it("waits for a leader", () => {
        assert.deepEqual(problems({ leaderId: undefined }), [["etcd has no leader", true, undefined]]);
    });

    it("stops at an alarm", () => {
        assert.deepEqual(problems({ alarms: ["NOSPACE on f02"] }), [
            ["etcd alarm NOSPACE on f02", false, "unhealthy-bystander"],
        ]);
    });

    it("stops at a ghost, with its address and ID", () => {
        const ghost = member("c9", { peerHosts: ["10.0.0.99"] });
        assert.deepEqual(problems({ members: [...two, ghost] }), [
            ["etcd member c9 at 10.0.0.99 (f09) belongs to no known controller: a ghost", false, "ghost-member"],
        ]);
    });

    it("knows a member by the address of a ControlNode or Node, or by the ID of an EtcdMember", () => {
        const lonely = member("c9");
        const base = { members: [...two, lonely] };
        assert.equal(problems(base).length, 1);
        assert.deepEqual(problems({ ...base, controlNodes: [controlNode("c9")] }), []);
        assert.deepEqual(problems({ ...base, nodes: [node("c9")] }), []);
        assert.deepEqual(problems({ ...base, etcdMembers: [etcdMember("c9", { peerAddress: "10.9.9.9" })] }), []);
        assert.equal(problems({ ...base, etcdMembers: [etcdMember("c9", { memberId: 1n })] }).length, 1);
    });

    it("stops at members that are unstarted, learners, unhealthy or not proven healthy", () => {
        const found = (change: object) => problems({ members: [...two, member("c3", change)] });
        assert.deepEqual(found({ name: "" }), [
            ["etcd member without a name at 10.0.0.3 (f03) was added and never started", false, "ghost-member"],
        ]);
        assert.deepEqual(found({ learner: true }), [
            ["etcd member c3 at 10.0.0.3 (f03) is a learner", false, "unhealthy-bystander"],
        ]);
        assert.deepEqual(found({ health: "unhealthy" }), [
            ["etcd member c3 at 10.0.0.3 (f03) is not healthy", false, "unhealthy-bystander"],
        ]);
        assert.deepEqual(found({ health: "unknown" }), [
            ["etcd member c3 at 10.0.0.3 (f03) was not proven healthy", false, "unhealthy-bystander"],
        ]);
    });

    it("waits for a member that is leaving", () => {
        const etcdMembers = [etcdMember("c1"), etcdMember("c2"), etcdMember("c3", { leave: true })];
        assert.deepEqual(problems({ etcdMembers }), [["EtcdMember c3 is leaving", true, "leave-in-progress"]]);
        assert.deepEqual(problems({ etcdMembers }, { nodeNames: [], memberIds: [memberId("c3")] }), []);
    });

    it("waits for a Node that is NotReady for less than a minute, and stops at one that is longer", () => {
        const since = (age: number) => problems({ nodes: [node("w1", { ready: false, readySince: NOW - age })] });
        assert.deepEqual(since(59_999), [["Node w1 is NotReady", true, "unhealthy-bystander"]]);
        assert.deepEqual(since(60_000), [["Node w1 is NotReady", false, "unhealthy-bystander"]]);
        assert.deepEqual(problems({ nodes: [node("w1", { ready: false, readySince: 0 })] })[0]?.[1], false);
    });

    it("says what a machine that is gone or was wiped left behind, and how it goes, and of nothing that lives", () => {
        const nodes = [node("w1", { ready: false })];
        const advice = (heartbeats: ClusterFacts["heartbeats"]) =>
            clusterProblems(cluster({ nodes, heartbeats }), nobody).map((problem) => problem.advice);
        const [left] = advice({});
        assert.match(left ?? "", /The kubelet of Node w1 has ended: .*`kubectl delete node w1`/);
        assert.deepEqual(advice({ w1: NOW - 60_000 }), [left]);
        assert.deepEqual([...advice({ w1: NOW }), ...advice({ w1: NOW - 59_000 })], [undefined, undefined]);
    });

    it("never counts the target", () => {
        const nodes = [node("c3", { ready: false })];
        const members = [...two, member("c3", { health: "unhealthy" })];
        assert.deepEqual(problems({ nodes, members }, { nodeNames: ["c3"], memberIds: [memberId("c3")] }), []);
    });

    it("stops at controllers of different versions, but not at a ControlNode of one that left", () => {
        const old = { k0sVersion: "v1.35.4+k0s.0" };
        const what = "controller c2 runs k0s v1.35.4+k0s.0, c1 v1.36.3+k0s.2";
        assert.deepEqual(problems({ controlNodes: [controlNode("c2", old)] }), [[what, false, "version-mismatch"]]);
        assert.deepEqual(problems({ controlNodes: [controlNode("c9", old)] }), []);
    });
});
