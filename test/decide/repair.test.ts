import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type RepairAction, repairFor, type RepairSituation } from "../../provider/decide/repair";
import type { ClusterFacts } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import { CORDON_ANNOTATION, OWNER_ANNOTATION } from "../../provider/decide/names";
import {
    address,
    BINARY,
    blankHost,
    cluster,
    controllerHost,
    etcdMember,
    marker,
    member,
    memberId,
    NO_DATA,
    node,
    OWNER,
    record,
    stopped,
    TOKEN,
    unit,
    workerHost,
} from "./build";

const NOW = 1_000_000;
const annotated = (name: string, change: object = {}) =>
    node(name, { annotations: { [OWNER_ANNOTATION]: OWNER }, ...change });
const nodes = ["c1", "c2", "c3", "w1"].map((name) => annotated(name));
const others = nodes.filter(({ name }) => name !== "c3" && name !== "w1");

function situation(name: "c3" | "w1", host: HostFacts, change: Partial<ClusterFacts>): RepairSituation {
    return {
        role: name === "w1" ? "worker" : "controller+worker",
        host,
        cluster: cluster({ nodes, ...change }),
        nodeName: name,
        peerAddress: address(name),
        state: { token: TOKEN, machineId: `machine-${name}` },
        owner: OWNER,
        labels: {},
        taints: [],
        now: NOW,
    };
}

const c3 = controllerHost("c3");
const w1 = workerHost("w1");
const noData = { ...stopped(c3), data: { ...NO_DATA, pki: true } };
const starting = { state: "silent", reason: "" } as const;
const withoutC3 = { members: [member("c1"), member("c2")] };
const noUnit = { units: { controller: undefined, worker: undefined } };
const objects = (change: object) => ({ etcdMembers: [etcdMember("c1"), etcdMember("c2"), etcdMember("c3", change)] });
const twoObjects = { etcdMembers: [etcdMember("c1"), etcdMember("c2")] };
const notReady = (name: string, readySince: number) => ({
    nodes: [...others, annotated(name, { ready: false, readySince })],
});

type Case = readonly [RepairAction, string, "c3" | "w1", HostFacts, Partial<ClusterFacts>, readonly string[]];

const CASES: readonly Case[] = [
    ["nothing", "all is well", "w1", w1, {}, []],
    ["nothing", "all is well", "c3", c3, {}, []],
    ["nothing", "the Node wobbles", "w1", w1, notReady("w1", NOW - 5000), []],
    ["wait-ready", "the Node is NotReady", "w1", w1, notReady("w1", NOW - 90_000), ["Node w1 is NotReady"]],
    ["wait-ready", "the Node is NotReady", "c3", c3, notReady("c3", NOW - 90_000), ["Node c3 is NotReady"]],
    ["restart", "the Node is not registered", "w1", w1, { nodes: others }, ["Node w1 is not registered"]],
    ["restart", "the Node is not registered", "c3", c3, { nodes: others }, ["Node c3 is not registered"]],
    ["start-service", "the service is stopped", "w1", stopped(w1), {}, ["k0sworker is not running"]],
    ["start-service", "the service is stopped", "c3", stopped(c3), {}, ["k0scontroller is not running"]],
    ["rebuild", "the service is stopped and the database gone", "c3", noData, {}, ["k0scontroller is not running"]],
    [
        "wait-ready",
        "k0s starts",
        "w1",
        { ...w1, status: starting },
        {},
        ["k0s does not answer, although k0sworker is started"],
    ],
    [
        "wait-ready",
        "k0s starts",
        "c3",
        { ...c3, status: starting },
        {},
        ["k0s does not answer, although k0scontroller is started"],
    ],
    ["rebuild", "the service is gone", "w1", { ...stopped(w1), ...noUnit }, {}, ["the k0s service is gone"]],
    ["rebuild", "the host is wiped", "w1", blankHost("w1"), {}, ["k0s is not installed"]],
    ["rebuild", "the host is wiped", "c3", blankHost("c3"), {}, ["k0s is not installed"]],
    [
        "rebuild",
        "it was reset by hand",
        "w1",
        blankHost("w1", { binary: BINARY }),
        {},
        ["k0s is not installed as a service"],
    ],
    [
        "rebuild",
        "the program is gone",
        "w1",
        { ...stopped(w1), ...noUnit, binary: undefined },
        {},
        ["k0s is not installed, but files of this cluster are left"],
    ],
    [
        "rebuild",
        "it left etcd and its object is gone",
        "c3",
        c3,
        { ...withoutC3, ...twoObjects },
        ["etcd does not list it as a member"],
    ],
    [
        "fail",
        "it was removed from outside",
        "c3",
        c3,
        withoutC3,
        ["it was removed from etcd by somebody else, and its EtcdMember is stale"],
    ],
    ["fail", "somebody asked it to leave", "c3", c3, objects({ leave: true }), ["it was asked to leave etcd"]],
    ["fail", "it has no EtcdMember", "c3", c3, twoObjects, ["it is an etcd member without an EtcdMember"]],
    [
        "fail",
        "it is stopped and was removed from outside",
        "c3",
        stopped(c3),
        withoutC3,
        ["k0scontroller is not running", "it was removed from etcd by somebody else, and its EtcdMember is stale"],
    ],
    [
        "fail",
        "there is a service without CA",
        "w1",
        blankHost("w1", { binary: BINARY, units: { controller: undefined, worker: unit([]) } }),
        {},
        ["k0s is on the host, but no cluster's CA can be found there"],
    ],
    [
        "fail",
        "another machine has the address",
        "w1",
        { ...w1, machineId: "x" },
        {},
        ["the host is another machine than the one in state"],
    ],
    [
        "fail",
        "the host belongs to another cluster",
        "w1",
        { ...w1, ca: { ...w1.ca, kubelet: "sha256:99" } },
        {},
        ["the host belongs to another cluster"],
    ],
    ["reclaim", "the marker is gone", "w1", { ...w1, marker: undefined }, {}, ["the host does not carry our marker"]],
    [
        "reclaim",
        "the Node lost its mark",
        "w1",
        w1,
        { nodes: [...others, node("w1")] },
        ["Node w1 does not carry our mark"],
    ],
    [
        "reclaim",
        "a newer token is on the host",
        "w1",
        { ...w1, marker: marker("w1", "worker", { token: "newer" }) },
        {},
        ["the node is marked with another token than the one in state"],
    ],
    [
        "fail",
        "another owner has it",
        "w1",
        { ...w1, marker: marker("w1", "worker", { owner: "o/p/s/x", token: "x" }) },
        {},
        ["it is marked as o/p/s/x's"],
    ],
    [
        "start-service",
        "it is stopped and the marker gone",
        "w1",
        { ...stopped(w1), marker: undefined },
        {},
        ["k0sworker is not running", "the host does not carry our marker"],
    ],
];

describe("repair", () => {
    for (const [action, what, name, host, change, drift] of CASES) {
        it(`answers ${action} for ${name} where ${what}`, () => {
            const repair = repairFor(situation(name, host, change));
            assert.equal(repair.action, action);
            assert.deepEqual(repair.drift, drift);
        });
    }

    it("reports a second cluster in those words", () => {
        const targetEtcd = { clusterId: 1n, memberIds: [] };
        const repair = repairFor({ ...situation("c3", c3, {}), targetEtcd });
        assert.equal(repair.action, "fail");
        assert.equal(repair.topic, "second-cluster");
        assert.equal(repair.drift[0], "the host is a second cluster");
    });

    it("never starts a controller that etcd does not list", () => {
        const repair = repairFor(situation("c3", stopped(c3), { ...withoutC3, ...twoObjects }));
        assert.notEqual(repair.action, "start-service");
    });

    it("looks again at what every start passes through", () => {
        assert.equal(repairFor(situation("c3", { ...c3, status: starting }, {})).lookAgain, true);
        assert.equal(repairFor(situation("c3", stopped(c3), {})).lookAgain, false);
    });

    describe("of a machine that was replaced", () => {
        const replaced = (host: HostFacts, change: Partial<ClusterFacts> = {}): RepairSituation => ({
            ...situation("c3", { ...host, machineId: "machine-new" }, change),
            state: { token: TOKEN, machineId: "machine-c3", memberId: memberId("c3") },
        });

        it("is a rebuild where the new one is blank and the old one can be removed", () => {
            assert.equal(repairFor(replaced(blankHost("c3"))).action, "rebuild");
            assert.equal(repairFor(replaced(blankHost("c3"), withoutC3)).topic, "removed-out-of-band");
        });

        it("is a rebuild too where our own record explains what is left of the old one", () => {
            const left = record("rebuild", { removing: "f03" });
            const repair = repairFor({ ...replaced(blankHost("c3"), withoutC3), record: left });
            assert.equal(repair.action, "rebuild");
        });

        it("fails where something is on the new one", () => {
            assert.equal(repairFor(replaced(c3)).action, "fail");
        });

        it("goes on where our own rebuild has claimed the new one", () => {
            const claimed = marker("c3", "controller", { machineId: "machine-new" });
            const done = repairFor(replaced({ ...c3, marker: claimed }));
            assert.deepEqual([done.action, done.drift.length], ["reclaim", 1]);
            const begun = repairFor(replaced({ ...c3, marker: { ...claimed, operation: record("add") } }));
            assert.equal(begun.action, "finish");
        });
    });

    describe("after an operation of ours that did not end", () => {
        const marked = (host: HostFacts, kind: "add" | "remove" | "rebuild"): HostFacts => ({
            ...host,
            marker: marker("c3", "controller", { operation: record(kind, { removing: "f03" }) }),
        });

        it("finishes a join, whatever the table says of the state", () => {
            for (const host of [c3, stopped(c3)]) {
                assert.equal(repairFor(situation("c3", marked(host, "add"), {})).action, "finish");
            }
        });

        it("forgets a removal that has changed nothing yet", () => {
            const repair = repairFor(situation("c3", marked(c3, "remove"), {}));
            assert.deepEqual(repair.drift, ["our own operation on it (remove) did not end"]);
            assert.equal(repair.action, "reclaim");
        });

        it("finishes a removal that cannot be taken back, and adds the node again", () => {
            assert.equal(repairFor(situation("c3", marked(c3, "remove"), objects({ leave: true }))).action, "rebuild");
            assert.equal(repairFor(situation("c3", marked(c3, "rebuild"), withoutC3)).action, "rebuild");
        });
    });

    it("un-cordons what we cordoned, and nothing else", () => {
        const cordoned = (annotations: Record<string, string>) => ({
            nodes: [
                ...others,
                node("w1", { unschedulable: true, annotations: { [OWNER_ANNOTATION]: OWNER, ...annotations } }),
            ],
        });
        const ours = repairFor(situation("w1", w1, cordoned({ [CORDON_ANNOTATION]: "operation-1" })));
        assert.deepEqual([ours.action, ours.uncordon, ours.drift.length], ["reclaim", true, 1]);
        const theirs = repairFor(situation("w1", w1, cordoned({})));
        assert.deepEqual([theirs.action, theirs.uncordon, theirs.drift], ["nothing", false, []]);
    });

    it("brings back the program's labels, and nobody else's", () => {
        const labels = { zone: "a", disk: "ssd" };
        const labelled = (found: Record<string, string>) => ({
            nodes: [...others, annotated("w1", { labels: found })],
        });
        const found = repairFor({ ...situation("w1", w1, labelled({ zone: "b", theirs: "x" })), labels });
        assert.deepEqual(found.drift, ['label zone of Node w1 is "b", not "a"', "label disk of Node w1 is missing"]);
        assert.equal(found.action, "reclaim");
        const same = repairFor({ ...situation("w1", w1, labelled({ ...labels, theirs: "x" })), labels });
        assert.deepEqual([same.action, same.drift], ["nothing", []]);
    });

    it("starts no controller whose member in etcd is another one than in state", () => {
        const stoppedC3 = situation("c3", stopped(c3), {});
        const known = { ...stoppedC3, state: { ...stoppedC3.state, memberId: memberId("c3") } };
        assert.equal(repairFor(known).action, "start-service");
        assert.equal(repairFor({ ...known, state: { ...known.state, memberId: 0xbadn } }).action, "fail");
    });
});
