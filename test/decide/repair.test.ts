import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type RepairAction, repairFor } from "../../provider/decide/repair";
import { renamedTo } from "../../provider/decide/renamed";
import type { ClusterFacts } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import { CORDON_ANNOTATION, OWNER_ANNOTATION } from "../../provider/decide/names";
import {
    BINARY,
    blankHost,
    etcdMember,
    marker,
    member,
    memberId,
    NO_DATA,
    node,
    NOW,
    OWNER,
    stopped,
    unit,
} from "./build";
import { annotated, c3, others, situation, w1 } from "./repair-situation";

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
        ["it was removed from etcd by somebody else, and its EtcdMember object is out of date"],
    ],
    ["fail", "somebody asked it to leave", "c3", c3, objects({ leave: true }), ["it was asked to leave etcd"]],
    [
        "fail",
        "it has no EtcdMember",
        "c3",
        c3,
        twoObjects,
        ["etcd has it as a member, but there is no EtcdMember object for it"],
    ],
    [
        "fail",
        "it is stopped and was removed from outside",
        "c3",
        stopped(c3),
        withoutC3,
        [
            "k0scontroller is not running",
            "it was removed from etcd by somebody else, and its EtcdMember object is out of date",
        ],
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
        ["it belongs to o/p/s/x"],
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
        assert.equal(repair.drift[0], "the host's etcd is a cluster of its own");
    });

    it("never starts a controller that etcd does not list", () => {
        const repair = repairFor(situation("c3", stopped(c3), { ...withoutC3, ...twoObjects }));
        assert.notEqual(repair.action, "start-service");
    });

    it("looks again at what every start passes through", () => {
        assert.equal(repairFor(situation("c3", { ...c3, status: starting }, {})).lookAgain, true);
        assert.equal(repairFor(situation("c3", stopped(c3), {})).lookAgain, false);
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

    it("takes our mark from a Node that is not cordoned, before somebody else's cordon is taken for ours", () => {
        const annotations = { [OWNER_ANNOTATION]: OWNER, [CORDON_ANNOTATION]: "operation-1" };
        const marked = repairFor(situation("w1", w1, { nodes: [...others, node("w1", { annotations })] }));
        assert.deepEqual([marked.action, marked.uncordon], ["reclaim", true]);
        assert.deepEqual(marked.drift, ["Node w1 carries the mark of a cordon of ours that is no more"]);
    });

    describe("of a machine that was renamed", () => {
        const renamed = (host: HostFacts, change: Partial<ClusterFacts>, name: "w1" | "c3" = "w1") =>
            repairFor(situation(name, { ...host, hostName: "Other" }, change));
        const WORDS = (name: string) => `the machine is called other now, and its Node is ${name}`;

        it("fails at once and says so, whatever its k0s does", () => {
            for (const age of [1000, 90_000]) {
                const { action, drift, topic, lookAgain, advice } = renamed(w1, notReady("w1", NOW - age));
                assert.deepEqual([action, topic, lookAgain, drift[0]], ["fail", "renamed-machine", false, WORDS("w1")]);
                assert.match(
                    advice ?? "",
                    /`hostnamectl set-hostname w1`, then `systemctl restart k0sworker`.*`triggers`/,
                );
            }
            assert.equal(renamed(w1, { nodes: others }).topic, "renamed-machine");
            assert.equal(renamed(stopped(w1), {}).topic, "renamed-machine");
            const controller = renamed(c3, notReady("c3", NOW - 90_000), "c3");
            assert.deepEqual([controller.drift[0], controller.topic], [WORDS("c3"), "renamed-machine"]);
            assert.match(controller.advice ?? "", /restart k0scontroller/);
        });

        it("is no drift while its Node is Ready, nor where the service gives the name", () => {
            assert.deepEqual(renamed(w1, {}).drift, []);
            const args = ["/usr/local/bin/k0s", "worker", "--kubelet-extra-args=--hostname-override=w1"];
            const named = { ...w1, units: { controller: undefined, worker: unit(args) } };
            assert.equal(renamed(named, notReady("w1", NOW - 90_000)).action, "wait-ready");
        });

        it("is rebuilt where it is to be, and is nothing to a controller without a kubelet", () => {
            assert.equal(renamed(blankHost("w1"), {}).action, "rebuild");
            const plain = { controller: unit(["/usr/local/bin/k0s", "controller"]), worker: undefined };
            assert.equal(renamedTo({ units: plain, hostName: "other" }, "c3"), undefined);
            assert.equal(renamedTo({ units: c3.units, hostName: "Other" }, "c3"), "other");
        });
    });

    describe("of a node whose address leads to another machine", () => {
        const elsewhere = (name: "c3" | "w1", change: Partial<ClusterFacts>) => {
            const host = blankHost(name, { machineId: "new", addresses: ["10.0.0.99"] });
            return repairFor(situation(name, host, change));
        };
        const gone = { nodes: others, members: [member("c1"), member("c2")], etcdMembers: [] };
        const dead = { ...notReady("w1", 1), heartbeats: {} };

        it("fails while the old one is alive, names `triggers`, and is looked at again for a minute", () => {
            for (const [name, change, words] of [
                ["w1", {}, /the old one is alive: the kubelet of Node w1 renews its Lease/],
                ["c3", { nodes: others }, /the old one is alive: its etcd member c3 is healthy/],
                ["w1", { heartbeats: { w1: NOW - 21_000 } }, /the old one may be alive: it is not certain yet/],
                ["w1", { ...notReady("w1", 1), heartbeats: { w1: NOW - 59_000 } }, /the old one may be alive/],
            ] as const) {
                const { action, topic, drift, advice, lookAgain, lookAgainFor } = elsewhere(name, change);
                assert.deepEqual([action, topic, lookAgain, lookAgainFor], ["fail", "living-node", true, 60]);
                assert.match(drift.join("; "), words);
                assert.match(advice ?? "", /`triggers`/);
            }
        });

        it("is a rebuild once the old one is dead, or where a machine that came after only has its name", () => {
            assert.equal(elsewhere("w1", dead).action, "rebuild");
            assert.equal(elsewhere("w1", { ...dead, heartbeats: { w1: NOW - 60_000 } }).action, "rebuild");
            assert.equal(elsewhere("c3", gone).action, "rebuild");
            assert.equal(
                elsewhere("w1", { nodes: [...others, annotated("w1", { machineId: "third" })] }).action,
                "rebuild",
            );
        });
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
