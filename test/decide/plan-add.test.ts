import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { LEAVE_ANNOTATION } from "../../provider/decide/etcd-verdict";
import { OWNER_ANNOTATION, TOKEN_ANNOTATION } from "../../provider/decide/names";
import { type AddPlan, planAdd, type Situation } from "../../provider/decide/plan";
import type { ClusterFacts } from "../../provider/facts/cluster";
import {
    BINARY,
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
    record,
    TOKEN,
    stopped,
    unit,
    workerHost,
} from "./build";
import { inputs, twoControllers, controller, worker, added, refused, unstarted } from "./situations";

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
        assert.equal(refused(planAdd(controller({ ...facts, targetEtcd: other }))).topic, "second-cluster");
        assert.equal(refused(planAdd(controller({ ...facts, targetEtcd: apart }))).topic, "second-cluster");
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
        const facts = { host: controllerHost("c3"), cluster: cluster() };
        const refusal = refused(planAdd(controller({ ...facts, targetEtcd: "hangs" })));
        assert.equal(refusal.topic, "broken-installation");
        assert.equal(refusal.lookAgain, true);
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
            assert.equal(refusal.topic, "broken-installation");
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

describe("resuming an interrupted add", () => {
    const marked = (kind: "controller" | "worker") =>
        marker(kind === "worker" ? "w1" : "c3", kind, { operation: record("add") });
    const installed = blankHost("c3", {
        binary: BINARY,
        units: { controller: unit(["k0s", "controller", "--enable-worker"], "inactive"), worker: undefined },
        marker: marked("controller"),
    });

    it("starts over where only the service was installed", () => {
        const plan = added(controller({ host: installed }));
        assert.deepEqual(plan.undo, { resetHost: true });
        assert.equal(plan.steps.kind, "join");
        assert.equal(plan.resumes?.id, "operation-1");
    });

    it("takes back the unstarted member of its join", () => {
        const plan = added(controller({ host: installed, cluster: unstarted() }));
        assert.equal(plan.undo?.member?.id, memberId("c3"));
        assert.equal(plan.undo.resetHost, true);
    });

    it("goes on with a member that was started", () => {
        const members = [...twoControllers.members, member("c3", { learner: true })];
        const host = controllerHost("c3", { marker: marked("controller") });
        const plan = added(controller({ host, cluster: { ...twoControllers, members } }));
        assert.equal(plan.steps.kind, "continue");
        assert.equal(plan.undo, undefined);
        assert.equal(plan.lookAgain, true);
    });

    it("starts over on a worker", () => {
        const host = stopped(workerHost("w1", { marker: marked("worker") }));
        assert.deepEqual(added(worker({ host })).undo, { resetHost: true });
    });

    describe("of a worker whose kubelet was given a controller's address", () => {
        const joining = (apiServer: string, change: Partial<Situation> = {}, ready = false): AddPlan =>
            added(
                worker({
                    host: workerHost("w1", { marker: marked("worker"), apiServer }),
                    cluster: { ...twoControllers, nodes: [...twoControllers.nodes, node("w1", { ready })] },
                    ...change,
                }),
            );
        const GONE = "https://10.0.0.3:6443";

        it("starts over where that controller has been removed since", () => {
            assert.deepEqual(joining(GONE).undo, { resetHost: true });
            assert.equal(joining(GONE).steps.kind, "join");
            const unregistered = joining(GONE, { cluster: twoControllers });
            assert.deepEqual(unregistered.undo, { resetHost: true });
        });

        it("goes on where it is still there, or the Node is Ready all the same", () => {
            for (const plan of [joining("https://10.0.0.2:6443"), joining(GONE, {}, true)]) {
                assert.equal(plan.steps.kind, "continue");
                assert.equal(plan.undo, undefined);
            }
        });

        it("goes on where no single controller matters, or an address is not known to be one", () => {
            for (const apiAccess of ["external", "node-local"] as const)
                assert.equal(joining(GONE, { apiAccess }).steps.kind, "continue");
            assert.equal(joining("https://api.example:6443").steps.kind, "continue");
        });

        it("changes nothing for one that is no join of ours", () => {
            const host = workerHost("w1", { apiServer: GONE });
            assert.equal(added(worker({ host })).undo, undefined);
        });
    });

    it("believes a record in the lock as well, if it is about this host", () => {
        const facts = { host: blankHost("c3"), cluster: unstarted() };
        assert.equal(added(controller({ ...facts, record: record("add") })).resumes?.id, "operation-1");
        for (const other of [record("add", { target: "10.9.9.9" }), record("add", { owner: "x" })]) {
            assert.equal(refused(planAdd(controller({ ...facts, record: other }))).topic, "member-without-cr");
        }
    });

    it("resets and starts nothing by the record in the lock alone: another machine may have the address by now", () => {
        const begun = { ...controllerHost("c3"), marker: undefined };
        const members = [...twoControllers.members, member("c3", { learner: true })];
        for (const [situation, topic] of [
            [controller({ host: { ...installed, marker: undefined } }), "unknown-state"],
            [controller({ host: stopped(begun), cluster: { ...twoControllers, members } }), "member-without-cr"],
            [worker({ host: { ...stopped(workerHost("w1")), marker: undefined } }), "broken-installation"],
        ] as const) {
            const told = record("add", { target: situation.host.address });
            assert.equal(refused(planAdd({ ...situation, record: told })).topic, topic);
        }
    });

    it("takes this cluster's CA on the machine in state for a marker that got lost", () => {
        const host = { ...stopped(workerHost("w1")), marker: undefined };
        const told = record("add", { target: host.address });
        const known = worker({ host, record: told, state: { token: TOKEN, machineId: host.machineId } });
        assert.deepEqual(added(known).undo, { resetHost: true });
    });

    it("believes the record in the lock also beside a reinstall in the marker, which explains nothing", () => {
        const reinstall = marker("c3", "controller", { operation: record("reinstall", { id: "operation-0" }) });
        const host = { ...installed, marker: reinstall };
        assert.equal(added(controller({ host, record: record("add") })).resumes?.id, "operation-1");
        assert.equal(refused(planAdd(controller({ host }))).topic, "unknown-state");
        assert.equal(refused(planAdd(controller({ host, record: record("reinstall") }))).topic, "unknown-state");
    });

    it("lets the matrix stand where there is no record, or a member that was there before", () => {
        assert.equal(
            refused(planAdd(controller({ host: { ...installed, marker: undefined } }))).topic,
            "unknown-state",
        );
        const before = marker("c3", "controller", { operation: record("add", { baseline: ["f01", "f02", "f03"] }) });
        const plan = planAdd(controller({ host: { ...installed, marker: before }, cluster: unstarted() }));
        assert.equal(plan.kind, "refuse");
    });

    it("cleans the object of a member that our own interrupted removal took out", () => {
        const operation = record("remove", { removing: "f03" });
        const facts = {
            ...twoControllers,
            etcdMembers: [...twoControllers.etcdMembers, etcdMember("c3", { joined: "False" })],
        };
        const host = blankHost("c3", { marker: marker("c3", "controller", { operation }) });
        assert.deepEqual(added(controller({ host, cluster: facts })).steps, { kind: "join", cleanStaleObject: true });
        assert.equal(refused(planAdd(controller({ cluster: facts }))).topic, "removed-out-of-band");
    });
});
