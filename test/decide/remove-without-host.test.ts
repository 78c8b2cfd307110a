import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { planRemove } from "../../provider/decide/plan";
import {
    address,
    blankHost,
    cluster,
    controllerHost,
    etcdMember,
    member,
    memberId,
    node,
    record,
    TOKEN,
} from "./build";
import { inputs, twoControllers, worker, leaving, removed, refused } from "./situations";

describe("removing without the host", () => {
    const cut = { ...inputs, onUnreachable: "remove-from-cluster" } as const;
    const dead = cluster({
        members: [member("c1"), member("c2"), member("c3", { health: "unhealthy" })],
        nodes: [node("c1"), node("c2"), node("c3", { ready: false })],
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
