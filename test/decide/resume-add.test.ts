import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type AddPlan, planAdd, type Situation } from "../../provider/decide/plan";
import {
    BINARY,
    blankHost,
    controllerHost,
    etcdMember,
    marker,
    member,
    memberId,
    node,
    record,
    TOKEN,
    stopped,
    unit,
    workerHost,
} from "./build";
import { twoControllers, controller, worker, added, refused, unstarted } from "./situations";

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
        assert.deepEqual(plan.steps, { kind: "continue-controller", own: members.at(-1) });
        assert.equal(plan.undo, undefined);
        assert.equal(plan.lookAgain, true);
    });

    it("does not go on where the CA of this cluster cannot be read on the host: nobody knows what runs there", () => {
        const members = [...twoControllers.members, member("c3")];
        const ca = { pki: undefined, kubelet: undefined, unreadable: true };
        const host = stopped(controllerHost("c3", { marker: marked("controller"), ca }));
        const refusal = refused(planAdd(controller({ host, cluster: { ...twoControllers, members } })));
        assert.match(refusal.what, /^scenario 9 /);
        assert.equal(refusal.topic, "unknown-state");
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
                assert.equal(plan.steps.kind, "continue-worker");
                assert.equal(plan.undo, undefined);
            }
        });

        it("goes on where no single controller matters, or an address is not known to be one", () => {
            for (const apiAccess of ["external", "node-local"] as const)
                assert.equal(joining(GONE, { apiAccess }).steps.kind, "continue-worker");
            assert.equal(joining("https://api.example:6443").steps.kind, "continue-worker");
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
