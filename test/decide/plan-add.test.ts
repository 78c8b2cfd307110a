import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { LEAVE_ANNOTATION } from "../../provider/decide/etcd-verdict";
import { OWNER_ANNOTATION, TOKEN_ANNOTATION } from "../../provider/decide/names";
import { planAdd } from "../../provider/decide/plan";
import type { ClusterFacts } from "../../provider/facts/cluster";
import {
    blankHost,
    cluster,
    controlNode,
    controllerHost,
    etcdMember,
    marker,
    member,
    memberId,
    node,
    OWNER,
    TOKEN,
    workerHost,
} from "./build";
import { inputs, twoControllers, controller, worker, added, refused } from "./situations";

describe("planning an add", () => {
    it("joins a blank host", () => {
        assert.deepEqual(added(controller()).steps, { kind: "join", cleanStaleObject: false });
        assert.deepEqual(added(worker()).steps, { kind: "join", cleanStaleObject: false });
    });

    it("adopts a node that is what it should be", () => {
        const unmarkedHost = { ...controllerHost("c3"), marker: undefined };
        const plan = added(controller({ host: unmarkedHost, cluster: cluster() }));
        assert.equal(plan.steps.kind, "adopt");
        assert.equal(plan.ownership.decision, "adopt");
    });

    it("restarts a node that never registered, not one that is registered under another name", () => {
        const facts = (name: string): ClusterFacts => ({
            ...cluster(),
            nodes: [node(name, { addresses: ["10.0.0.4"] })],
        });
        const host = { ...workerHost("w1"), addresses: ["10.0.0.4"], machineId: node("w7").machineId };
        assert.equal(added(worker({ host, cluster: { ...cluster(), nodes: [] } })).steps.kind, "restart");
        const refusal = refused(planAdd(worker({ host, cluster: facts("w7") })));
        assert.equal(refusal.what, "this machine is Node w7, not w1");
        assert.equal(refusal.topic, "name-taken");
        // A copied disk has the same machine id, at another address.
        const copied = { ...facts("w7"), nodes: [node("w7", { addresses: ["10.0.0.9"] })] };
        assert.equal(added(worker({ host, cluster: copied })).steps.kind, "restart");
    });

    it("deletes the stale object of a member that left by our own request first", () => {
        const stale = etcdMember("c3", { leave: true, joined: "False", annotations: { [LEAVE_ANNOTATION]: "f03" } });
        const facts = { ...twoControllers, etcdMembers: [...twoControllers.etcdMembers, stale] };
        const plan = added(controller({ cluster: facts }));
        assert.deepEqual(plan.steps, { kind: "join", cleanStaleObject: true });
        assert.equal(plan.verdict?.object?.name, "c3");
    });

    it("checks the role before anything else", () => {
        assert.equal(refused(planAdd(worker({ host: controllerHost("c3"), cluster: cluster() }))).topic, "wrong-role");
    });

    it("refuses a host whose own etcd serves another cluster, or one without the helper", () => {
        const facts = { host: controllerHost("c3"), cluster: cluster() };
        const other = { clusterId: 1n, memberIds: [memberId("c1")] };
        const apart = { clusterId: 0xabcn, memberIds: [memberId("c3")] };
        const refusals = [other, apart].map((targetEtcd) => refused(planAdd(controller({ ...facts, targetEtcd }))));
        assert.deepEqual(
            refusals.map(({ topic }) => topic),
            ["second-cluster", "second-cluster"],
        );
        // The helper may have left etcd between the two questions; it never gets another cluster by that.
        assert.deepEqual(
            refusals.map(({ lookAgain }) => lookAgain),
            [false, true],
        );
        const same = { clusterId: 0xabcn, memberIds: [memberId("c1"), memberId("c3")] };
        assert.equal(added(controller({ ...facts, targetEtcd: same })).steps.kind, "adopt");
    });

    it("leaves it to the matrix to refuse another cluster's host by its CA", () => {
        const host = controllerHost("c3", { ca: { pki: "sha256:other", kubelet: undefined, unreadable: false } });
        const targetEtcd = { clusterId: 1n, memberIds: [1n] };
        const refusal = refused(planAdd(controller({ host, cluster: twoControllers, targetEtcd })));
        assert.match(refusal.what, /^scenario 5 .*: report, fail$/);
        assert.equal(refusal.topic, "foreign-cluster");
    });

    it("does not add a host whose own etcd hangs, because nobody knows which cluster it serves", () => {
        const members = [member("c1"), member("c2"), member("c3", { health: "unhealthy" })];
        const facts = { host: controllerHost("c3"), targetEtcd: { hangs: "x" } };
        const refusal = refused(planAdd(controller({ ...facts, cluster: cluster({ members }) })));
        assert.equal(refusal.topic, "broken-installation");
        assert.equal(refusal.lookAgain, true);
        assert.equal(added(controller({ ...facts, cluster: cluster() })).steps.kind, "adopt");
    });

    it("refuses a wiped host whose member still counts, and names scenario, verdict and evidence", () => {
        const refusal = refused(planAdd(controller({ cluster: cluster() })));
        assert.equal(refusal.what, "scenario 1 (Clean host), VerdictHealthy: report, fail");
        assert.equal(refusal.topic, "member-on-wiped-host");
        assert.ok(refusal.evidence.includes("etcd lists a voter c3 at 10.0.0.3 (f03)"));
    });

    it("refuses another owner's node and machine, unless it is to be taken over", () => {
        const theirs = { marker: marker("c3", "controller", { owner: "organization/other/dev/x", token: "x" }) };
        const ready = controller({ host: controllerHost("c3", theirs), cluster: cluster() });
        assert.equal(refused(planAdd(ready)).topic, "other-owner");
        assert.equal(refused(planAdd(controller({ host: blankHost("c3", theirs) }))).topic, "other-owner");
        const takeOver = { ...inputs, adopt: "takeOver" } as const;
        assert.equal(added({ ...ready, inputs: takeOver }).ownership.decision, "take-over");
    });

    it("adopts nothing where adopt is never, and still joins a blank host", () => {
        const never = { ...inputs, adopt: "never" } as const;
        const host = { ...controllerHost("c3"), marker: undefined };
        assert.equal(refused(planAdd(controller({ host, cluster: cluster(), inputs: never }))).topic, "other-owner");
        assert.equal(added(controller({ inputs: never })).steps.kind, "join");
    });

    it("refuses a name that belongs to another machine", () => {
        const elsewhere = { addresses: ["10.9.9.9"] };
        const facts = (change: Partial<ClusterFacts>) =>
            refused(planAdd(controller({ cluster: { ...twoControllers, ...change } })));
        assert.equal(facts({ nodes: [node("c3", { ...elsewhere, machineId: "x" })] }).topic, "name-taken");
        assert.equal(facts({ controlNodes: [controlNode("c3", elsewhere)] }).topic, "name-taken");
        assert.equal(facts({ etcdMembers: [etcdMember("c3", { peerAddress: "10.9.9.9" })] }).topic, "name-taken");
    });

    it("refuses a host whose directories hold what is somebody else's, because a removal would empty them", () => {
        const { data } = blankHost("c3");
        for (const [change, found] of [
            [{ foreign: ["mine"] }, "/var/lib/k0s holds mine"],
            [{ foreignKubelet: ["config.json"] }, "kubeletRootDir holds config.json"],
        ] as const) {
            const refusal = refused(planAdd(controller({ host: blankHost("c3", { data: { ...data, ...change } }) })));
            assert.equal(refusal.topic, "directories");
            assert.deepEqual(refusal.evidence, [found]);
        }
    });

    it("refuses to join while a Node of its name and address is Ready on another machine", () => {
        const nodes = [node("w1", { machineId: "older" })];
        const refusal = refused(planAdd(worker({ cluster: { ...twoControllers, nodes } })));
        assert.equal(refusal.topic, "name-taken");
        assert.equal(refusal.lookAgain, true);
        const gone = [node("w1", { machineId: "older", ready: false })];
        assert.equal(added(worker({ cluster: { ...twoControllers, nodes: gone } })).steps.kind, "join");
    });

    it("refuses the name of a machine that this one was copied from, id and all, which would be taken for it", () => {
        for (const ready of [true, false]) {
            const nodes = [node("w1", { addresses: ["10.9.9.9"], ready })];
            const refusal = refused(planAdd(worker({ cluster: { ...twoControllers, nodes } })));
            assert.equal(refusal.topic, "name-taken");
            assert.deepEqual(refusal.evidence, ["Node w1 belongs to the machine at 10.9.9.9"]);
        }
        // One that has not told its address may be this machine's own, and so is one of ours whose machine moved.
        const moved = {
            addresses: ["10.9.9.9"],
            annotations: { [TOKEN_ANNOTATION]: TOKEN, [OWNER_ANNOTATION]: OWNER },
        };
        for (const change of [{ addresses: [] }, moved]) {
            const nodes = [node("w1", { ...change, ready: false })];
            assert.equal(added(worker({ cluster: { ...twoControllers, nodes } })).steps.kind, "join");
        }
    });

    it("adds no controller to a cluster that is not whole or has enough", () => {
        const [c1] = twoControllers.members;
        assert.ok(c1);
        const sick = { ...twoControllers, members: [c1, member("c2", { health: "unhealthy" })] };
        assert.equal(refused(planAdd(controller({ cluster: sick }))).topic, "quorum");
        assert.equal(refused(planAdd(controller({ inputs: { ...inputs, maxControllers: 2 } }))).topic, "quorum");
        assert.equal(added(worker({ cluster: sick })).steps.kind, "join");
    });

    it("sends a ghost that never started to its section of the runbook, with address and ID", () => {
        const ghost = member("c9", { id: 0xbb8bn, name: "", health: "unhealthy" });
        const facts = { ...twoControllers, members: [...twoControllers.members, ghost] };
        const refusal = refused(planAdd(controller({ cluster: facts })));
        assert.equal(refusal.topic, "ghost-member");
        assert.match(refusal.what, /10\.0\.0\.9 \(bb8b\) was added and never started/);
    });
});
