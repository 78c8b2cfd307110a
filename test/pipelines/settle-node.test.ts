import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { deleteStaleObject, restartNode, updateLabels, waitForReady } from "../../provider/pipelines/settle-node";
import { repairNode } from "../../provider/pipelines/repair-node";
import { undoJoin } from "../../provider/pipelines/undo-join";
import type { RepairAction } from "../../provider/decide/repair";
import { cluster, controllerHost, etcdMember, member, node, workerHost } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, scene, stagesOf } from "../support/fake-operation";

const world = (): Scene => scene({ hostFacts: controllerHost("c3") });
/** What touches the machine or the membership. */
const touching = ({ calls }: Scene): string[] =>
    only(
        calls,
        "c3 service ",
        "c3 reset",
        "c3 cleanUp",
        "c3 install",
        "c1 create",
        "etcd removeMember",
        "kube delete",
        "kube patch",
    );
const START = ["c3 service enable controller", "c3 service start controller"];

describe("repairing a node", () => {
    const repair = async (action: RepairAction): Promise<Scene> => {
        const node = world();
        await repairNode(node.operation, { action, drift: [], uncordon: false, lookAgain: false });
        return node;
    };
    const expected: readonly (readonly [RepairAction, readonly string[], readonly string[]])[] = [
        ["nothing", ["marking the node"], []],
        ["reclaim", ["marking the node"], []],
        ["wait-ready", ["waiting for the Node", "marking the node"], []],
        ["start-service", ["starting k0s", "waiting for k0s", "waiting for the Node", "marking the node"], START],
        [
            "restart",
            ["restarting k0s", "waiting for k0s", "waiting for the Node", "marking the node"],
            ["c3 service restart controller"],
        ],
    ];
    for (const [action, stages, touched] of expected) {
        it(`by ${action} is ${stages.join(", ")}, and touches nothing else`, async () => {
            const node = await repair(action);
            assert.deepEqual(stagesOf(node), stages);
            assert.deepEqual(touching(node), touched);
        });
    }
});

describe("a restart of a controller", () => {
    it("is refused where etcd would lose its quorum meanwhile, and of a worker it is not asked", async () => {
        const others = { isReady: async () => false };
        const { inputs } = world().operation;
        const timeouts = { ...inputs.timeouts, api: 0 };
        const controller = scene({ hostFacts: controllerHost("c3"), others, inputs: { timeouts } });
        await assert.rejects(restartNode(controller.operation), { name: "RefusedError", topic: "quorum" });
        assert.deepEqual(touching(controller), []);
        const nodes = [...cluster().nodes, node("w1")];
        const w1 = scene({ name: "w1", hostFacts: workerHost("w1"), cluster: cluster({ nodes }), others });
        await restartNode(w1.operation);
        assert.ok(w1.calls.includes("w1 service restart worker"));
    });
});

describe("a node that is what it should be", () => {
    it("is marked only once its Node is Ready", async () => {
        const { operation, calls } = scene({
            hostFacts: controllerHost("c3"),
            cluster: cluster({ nodes: [] }),
            inputs: { timeouts: { ...world().operation.inputs.timeouts, ready: 0 } },
        });
        for (const settle of [waitForReady, restartNode]) await assert.rejects(settle(operation), /is not registered/);
        assert.deepEqual(only(calls, "c3 writeMarker", "kube annotate"), []);
    });

    it("gets the labels of the program and loses those of before", async () => {
        const node = scene({ inputs: { labels: { zone: "b" } } });
        await updateLabels(node.operation, { disk: "ssd" });
        assert.deepEqual(node.calls, [
            "kube node c3",
            'kube labelNode c3 {"disk":null,"zone":"b"}',
            'kube annotateNode c3 {"pulumi-mke/labels":"zone"}',
        ]);
    });

    it("keeps no object of an earlier member, once k0s says that it left", async () => {
        const stale = etcdMember("c3", { leave: true, joined: "False" });
        const node = scene({ cluster: cluster({ etcdMembers: [stale], members: [member("c1"), member("c2")] }) });
        await deleteStaleObject(node.operation, stale);
        assert.deepEqual(touching(node), ["kube deleteEtcdMember c3 uid-etcdmember-c3"]);
    });
});

describe("taking back an interrupted join", () => {
    const unstarted = member("c3", { name: "", learner: true });
    const STOP = ["c3 service disable controller", "c3 service stop controller"];
    const RESET = ["c3 reset /var/lib/k0s", "c3 cleanUp /var/lib/k0s"];

    it("stops k0s, removes the member by ID, and then resets", async () => {
        const node = world();
        await undoJoin(node.operation, { member: unstarted, resetHost: true });
        assert.deepEqual(touching(node), [...STOP, "etcd removeMember f03", ...RESET]);
    });

    it("removes the member alone where the host has nothing", async () => {
        const node = world();
        await undoJoin(node.operation, { member: unstarted, resetHost: false });
        assert.deepEqual(touching(node), ["etcd removeMember f03"]);
    });

    it("asks nothing of etcd where no member was added", async () => {
        const node = world();
        await undoJoin(node.operation, { resetHost: true });
        assert.deepEqual(touching(node), [...STOP, ...RESET]);
        assert.deepEqual(only(node.calls, "etcd"), []);
    });

    it("neither removes nor resets when the lock was lost, or the members are others", async () => {
        const lost = world();
        lost.loseLock();
        await assert.rejects(undoJoin(lost.operation, { member: unstarted, resetHost: true }), { name: "LockError" });
        await assert.rejects(undoJoin(lost.operation, { resetHost: true }), { name: "LockError" });
        const changed = world();
        changed.etcd.members = changed.etcd.members.filter(({ name }) => name !== "c2");
        const undo = { member: unstarted, resetHost: true };
        await assert.rejects(undoJoin(changed.operation, undo), /the etcd members changed/);
        for (const { calls } of [lost, changed])
            assert.deepEqual(only(calls, "etcd remove", "c3 reset", "c3 cleanUp"), []);
    });
});
