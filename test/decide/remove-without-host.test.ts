import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { planRemove, type RemovalSituation } from "../../provider/decide/plan";
import { LEAVE_ANNOTATION } from "../../provider/decide/etcd-verdict";
import type { ClusterFacts } from "../../provider/facts/cluster";
import {
    address,
    blankHost,
    cluster,
    controllerHost,
    etcdMember,
    member,
    memberId,
    node,
    NOW,
    record,
    TOKEN,
} from "./build";
import { inputs, twoControllers, worker, leaving, removed, refused } from "./situations";

describe("removing without the host", () => {
    const cut = { ...inputs, onUnreachable: "remove-from-cluster" } as const;
    const dead = cluster({
        members: [member("c1"), member("c2"), member("c3", { health: "unhealthy" })],
        nodes: [node("c1"), node("c2"), node("c3", { ready: false })],
        heartbeats: {},
    });

    it("is refused unless the program says so", () => {
        assert.equal(refused(planRemove(leaving({ host: undefined, cluster: dead }))).topic, undefined);
    });

    it("takes a dead controller out of the cluster by ID, without draining", () => {
        const plan = removed(leaving({ host: undefined, cluster: dead, inputs: cut }));
        assert.deepEqual(plan.steps, {
            drain: false,
            leave: "leave",
            deleteObject: true,
            deleteNode: true,
            machine: "none",
            order: "leave-first",
        });
        assert.equal(plan.howToLeave, "member-remove");
        assert.equal(plan.node?.name, "c3");
        assert.equal(plan.touchesHost, false);
    });

    describe("of a node that lives", () => {
        const ended = { ...cluster().heartbeats, c3: NOW - 21_000 };
        const heard = { ...ended, c3: NOW - 20_000 };
        const c3 = (change: Partial<ClusterFacts>) =>
            leaving({ host: undefined, cluster: cluster(change), inputs: cut });

        it("drains first, because its pods end with its kubelet, and that with the leave", () => {
            const kubelet = removed(c3({ members: dead.members, heartbeats: heard })).steps;
            assert.deepEqual([kubelet.drain, kubelet.order], [true, "drain-first"]);
            const member = removed(c3({ nodes: dead.nodes, heartbeats: {} })).steps;
            assert.deepEqual([member.drain, member.order], [false, "drain-first"]);
            const notReady = removed(c3({ nodes: dead.nodes, heartbeats: heard })).steps;
            assert.deepEqual([notReady.drain, notReady.order], [true, "drain-first"]);
            const neither = removed(c3({ members: dead.members, heartbeats: ended })).steps;
            assert.deepEqual([neither.drain, neither.order], [true, "leave-first"]);
        });

        it("drains first too where another machine has the address now", () => {
            const host = blankHost("c3", { machineId: "new", addresses: ["10.0.0.99"] });
            assert.equal(removed(leaving({ host })).steps.order, "drain-first");
        });

        it("deletes the object of a member that has left before its drain, as for a host that answers", () => {
            const gone = { members: twoControllers.members, heartbeats: heard };
            const annotations = { [LEAVE_ANNOTATION]: "f03" };
            const object = etcdMember("c3", { leave: true, joined: "False", annotations });
            const etcdMembers = [...twoControllers.etcdMembers, object];
            assert.equal(removed(c3({ ...gone, etcdMembers })).steps.order, "object-first");
        });

        const KEY = "the host key is not the expected one: hostKey is SHA256:a, the host shows SHA256:b";
        const key = (change: Partial<ClusterFacts>, said = inputs as RemovalSituation["inputs"]) =>
            planRemove(leaving({ host: undefined, otherHostKey: KEY, cluster: cluster(change), inputs: said }));

        it("is refused for a host that only shows another key, until it is dead, and looked at again for a minute", () => {
            for (const [change, words] of [
                [{}, /the node is alive: the kubelet of Node c3 renews its Lease$/],
                [{ heartbeats: ended }, /the node is alive: its etcd member c3 is healthy$/],
                [{ heartbeats: ended, members: dead.members }, /the node may be alive: it is not certain yet/],
                [{ ...dead, heartbeats: { c3: NOW - 59_000 } }, /the node may be alive/],
            ] as const) {
                const refusal = refused(key(change));
                assert.match(refusal.what, words);
                assert.deepEqual([refusal.topic, refusal.lookAgain, refusal.lookAgainFor], ["living-node", true, 60]);
                assert.deepEqual(refusal.evidence, [KEY]);
            }
            for (const heartbeats of [{}, { c3: NOW - 60_000 }]) {
                assert.equal(key({ ...dead, heartbeats }).kind, "remove");
            }
            assert.equal(key({}, cut).kind, "remove");
        });

        it("is not refused for the Node of another machine, which only has its name", () => {
            const nodes = [node("c1"), node("c2"), node("c3", { machineId: "new" })];
            assert.equal(key({ nodes, members: dead.members }).kind, "remove");
        });

        it("is refused for a worker's key as well, whoever has its address", () => {
            const state = { token: TOKEN, machineId: "machine-w1" };
            const w1 = (facts: ClusterFacts) =>
                planRemove({ ...worker({ state }), host: undefined, otherHostKey: KEY, cluster: facts });
            const nodes = [...cluster().nodes, node("w1")];
            assert.equal(refused(w1(cluster({ nodes }))).topic, "living-node");
            const dead = [...cluster().nodes, node("w1", { ready: false })];
            assert.equal(w1(cluster({ nodes: dead, heartbeats: {} })).kind, "remove");
        });
    });

    it("is what happens when another machine has the address now", () => {
        const plan = removed(leaving({ host: blankHost("c3", { machineId: "new" }), cluster: dead }));
        assert.equal(plan.touchesHost, false);
        assert.equal(plan.member?.id, memberId("c3"));
        assert.match(plan.notes.join(), /another machine now/);
    });

    it("knows the Node of the machine that came after, which has what goes by the address", () => {
        const state = { token: TOKEN, machineId: "machine-w1" };
        const gone = worker({ host: blankHost("w1", { machineId: "new" }), state });
        const nodes = [node("c1"), node("w9", { addresses: [address("w1")], machineId: "new" })];
        const plan = removed({ ...gone, cluster: cluster({ nodes }) });
        assert.deepEqual([plan.node, plan.successor?.name], [undefined, "w9"]);
        for (const other of [node("w1"), node("w1", { machineId: "" })]) {
            const facts = cluster({ nodes: [node("c1"), other] });
            assert.equal(removed({ ...gone, cluster: facts }).successor, undefined);
        }
    });

    it("never removes the member of the machine that came after", () => {
        const members = [member("c1"), member("c2"), member("c3", { id: 0xf33n })];
        const facts = cluster({
            members,
            etcdMembers: [etcdMember("c1"), etcdMember("c2"), etcdMember("c3", { memberId: 0xf33n })],
        });
        const host = controllerHost("c3", { machineId: "new", marker: undefined });
        assert.equal(refused(planRemove(leaving({ host, cluster: facts }))).kind, "refuse");
    });

    it("never removes the member of the machine that came after a join of ours that did not get so far", () => {
        const state = { token: TOKEN, machineId: "machine-old" };
        const begun = leaving({ host: undefined, inputs: cut, state });
        assert.equal(refused(planRemove({ ...begun, cluster: cluster() })).topic, "ghost-member");
        const without = cluster({ nodes: [node("c1"), node("c2")] });
        assert.equal(refused(planRemove({ ...begun, cluster: without })).topic, "ghost-member");
    });

    it("of a worker does not mind that a controller has its address by now", () => {
        const state = { token: TOKEN, machineId: "machine-w1" };
        const gone = worker({ host: blankHost("w1", { machineId: "new" }), state });
        const c9 = member("c9", { peerHosts: [address("w1")] });
        const nodes = [...cluster().nodes, node("c9", { addresses: [address("w1")], machineId: "new" }), node("w1")];
        const facts = cluster({ members: [...cluster().members, c9], nodes });
        for (const host of [gone.host, undefined]) {
            const plan = removed({ ...gone, host, cluster: facts, inputs: cut });
            assert.deepEqual(
                [plan.member, plan.object, plan.node?.name, plan.touchesHost],
                [undefined, undefined, "w1", false],
            );
        }
        // The machine itself may have become a controller.
        const converted = { ...facts, nodes: [node("w1")] };
        assert.equal(
            refused(planRemove({ ...gone, host: undefined, cluster: converted, inputs: cut })).topic,
            "wrong-role",
        );
    });

    it("still needs a quorum", () => {
        const members = [member("c1"), member("c3", { health: "unhealthy" })];
        const facts = cluster({ ...dead, members }, ["c1", "c3"]);
        assert.equal(refused(planRemove(leaving({ host: undefined, cluster: facts, inputs: cut }))).topic, "quorum");
    });

    it("finishes from the record in the lock what an interrupted removal left", () => {
        const facts = { ...twoControllers, etcdMembers: cluster().etcdMembers };
        const situation = leaving({ host: undefined, cluster: facts, inputs: cut });
        assert.equal(refused(planRemove(situation)).topic, "removed-out-of-band");
        const plan = removed({ ...situation, record: record("remove", { removing: "f03" }) });
        assert.equal(plan.steps.leave === "none" && plan.steps.deleteObject, true);
        assert.equal(plan.touchesHost, false);
    });

    it("never takes a controller's address for a worker's", () => {
        const situation = leaving({ role: "worker", host: undefined, cluster: dead, inputs: cut });
        assert.equal(refused(planRemove(situation)).topic, "wrong-role");
    });
});
