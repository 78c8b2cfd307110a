import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { planAdd, planRemove, type RemovalSituation } from "../../provider/decide/plan";
import type { HostFacts } from "../../provider/facts/host";
import {
    address,
    blankHost,
    CA,
    cluster,
    controllerHost,
    marker,
    member,
    memberId,
    node,
    record,
    TOKEN,
    workerHost,
} from "./build";
import { controller, inputs, leaving, refused, removed, twoControllers, worker } from "./situations";

const cut = { ...inputs, onUnreachable: "remove-from-cluster" } as const;
const unnamed = member("c3", { name: "", learner: true, health: "unhealthy" });
const others = [node("c1"), node("c2")];
const unmarked = controllerHost("c3", { marker: undefined });
/** A join that did not get far enough to know its member. */
const halfMade = { token: TOKEN, machineId: "machine-c3" };

function begun(change: Partial<RemovalSituation>): RemovalSituation {
    return leaving({ state: halfMade, inputs: cut, ...change });
}

/** Members and Nodes; the plain controller c3 has no Node. */
function facts(c3 = member("c3"), nodes = others): RemovalSituation["cluster"] {
    return cluster({ members: [member("c1"), member("c2"), c3], nodes });
}

describe("the member at the node's address", () => {
    const theirs: readonly (readonly [which: string, change: Partial<RemovalSituation>])[] = [
        ["has started, and its host does not answer", { host: undefined, cluster: facts() }],
        [
            "has started, and is on a machine without our mark",
            { host: unmarked, state: { token: TOKEN }, cluster: facts() },
        ],
        [
            "has the Node of another machine",
            { host: undefined, cluster: facts(undefined, [...others, node("c3", { machineId: "new" })]) },
        ],
        [
            "has a Node of ours, and another machine answers",
            { host: controllerHost("c3", { machineId: "new", marker: undefined }), cluster: cluster() },
        ],
        [
            "has an ID that is not the one in state",
            { host: undefined, state: { ...halfMade, memberId: 7n }, cluster: cluster() },
        ],
        [
            "has started since a join of ours, which knows no ID",
            { host: undefined, cluster: facts(), record: record("add", { baseline: ["f01", "f02"] }) },
        ],
    ];
    for (const [which, change] of theirs) {
        it(`is somebody else's where it ${which}: nothing is removed`, () => {
            assert.equal(refused(planRemove(begun(change))).topic, "ghost-member");
        });
    }

    const ours: readonly (readonly [which: string, change: Partial<RemovalSituation>])[] = [
        ["its ID is in state", { host: undefined, state: { ...halfMade, memberId: memberId("c3") }, cluster: facts() }],
        [
            "our removal's record names its ID",
            { host: undefined, cluster: facts(), record: record("remove", { removing: "f03" }) },
        ],
        ["its host carries our token", { state: { token: TOKEN }, cluster: facts() }],
        ["its Node is that of the machine in state", { host: undefined, cluster: cluster() }],
    ];
    for (const [which, change] of ours) {
        it(`is the node's where ${which}`, () => {
            const plan = removed(begun(change));
            assert.deepEqual([plan.member?.id, plan.steps.leave], [memberId("c3"), "leave"]);
        });
    }

    it("is the node's where it never started and came with a join of ours", () => {
        const joining = { host: undefined, record: record("add", { baseline: ["f01", "f02"] }) };
        const cluster = { ...facts(unnamed), etcdMembers: twoControllers.etcdMembers };
        assert.equal(removed(begun({ ...joining, cluster })).member?.id, memberId("c3"));
    });

    it("is not a join's to take back where it was there before that", () => {
        const before = { record: record("add", { baseline: ["f01", "f02", "f03"] }) };
        const cluster = { ...facts(unnamed), etcdMembers: twoControllers.etcdMembers };
        for (const host of [undefined, controllerHost("c3")]) {
            assert.equal(refused(planRemove(begun({ ...before, host, cluster }))).kind, "refuse");
        }
    });

    it("is neither gone on with nor taken back by an add where it has started and nothing proves it ours", () => {
        const joining = record("add", { baseline: ["f01", "f02"] });
        const situation = controller({ cluster: facts(), record: joining, state: { token: TOKEN } });
        assert.equal(refused(planAdd(situation)).topic, "member-on-wiped-host");
    });
});

describe("a record of ours on a host that shows another cluster's CA", () => {
    const ca = { pki: "sha256:other", kubelet: undefined, unreadable: false };
    const kubelet = { pki: undefined, kubelet: "sha256:other", unreadable: false };
    const operation = record("remove", { removing: "f03" });
    const running = controllerHost("c3", { ca, marker: marker("c3", "controller", { operation }) });
    const stopped: HostFacts = {
        ...running,
        units: { controller: undefined, worker: undefined },
        status: blankHost("c3").status,
    };

    it("explains nothing there: neither a removal nor an add goes on", () => {
        for (const host of [running, { ...stopped, runLockHeld: false }]) {
            assert.equal(refused(planRemove(leaving({ host, cluster: twoControllers }))).topic, "foreign-cluster");
            const add = { ...host, marker: marker("c3", "controller", { operation: record("add") }) };
            assert.equal(refused(planAdd(controller({ host: add }))).topic, "foreign-cluster");
        }
    });

    it("explains nothing of a worker either", () => {
        const operation = record("add", { target: address("w1") });
        const host = workerHost("w1", { ca: kubelet, marker: marker("w1", "worker", { operation }) });
        assert.equal(refused(planRemove(worker({ host }))).topic, "foreign-cluster");
        assert.equal(refused(planAdd(worker({ host }))).topic, "foreign-cluster");
        assert.equal(
            refused(planAdd(worker({ host: { ...host, ca: { ...kubelet, pki: CA } } }))).topic,
            "foreign-cluster",
        );
    });
});

describe("the Node of a controller that is removed", () => {
    it("is not taken for ours by its name alone", () => {
        const another = node("c3", { machineId: "new", addresses: ["10.9.9.9"] });
        const nameless = node("c3", { machineId: "", addresses: ["10.9.9.9"] });
        for (const one of [another, nameless]) {
            for (const host of [undefined, controllerHost("c3")]) {
                const situation = leaving({ host, inputs: cut, cluster: facts(undefined, [...others, one]) });
                assert.equal(removed(situation).node, undefined);
            }
        }
        // The address counts where no machine is known.
        const known = leaving({
            host: undefined,
            inputs: cut,
            cluster: facts(undefined, [...others, node("c3", { machineId: "" })]),
        });
        assert.equal(removed(known).node?.name, "c3");
    });
});
