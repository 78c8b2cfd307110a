import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { LEAVE_ANNOTATION } from "../../provider/decide/etcd-verdict";
import { OWNER_ANNOTATION, TOKEN_ANNOTATION } from "../../provider/decide/names";
import { planRemove } from "../../provider/decide/plan";
import type { ClusterFacts } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import {
    BINARY,
    blankHost,
    CA,
    cluster,
    controllerHost,
    etcdMember,
    marker,
    member,
    memberId,
    NO_DATA,
    node,
    record,
    stopped,
    TOKEN,
    unit,
    workerHost,
} from "./build";
import { inputs, twoControllers, worker, leaving, removed, refused, unstarted } from "./situations";

describe("planning a removal", () => {
    it("drains, leaves and resets a healthy controller", () => {
        const plan = removed(leaving());
        assert.deepEqual(plan.steps, {
            drain: true,
            leave: "leave",
            deleteObject: true,
            deleteNode: true,
            machine: "reset",
            order: "drain-first",
        });
        assert.equal(plan.howToLeave, "spec-leave");
        assert.equal(plan.member?.id, memberId("c3"));
        assert.equal(plan.object?.name, "c3");
        assert.equal(plan.node?.name, "c3");
        assert.equal(plan.controlNode?.name, "c3");
        assert.equal(plan.touchesHost, true);
    });

    it("removes by ID one of two controllers, and one whose k0s does not answer", () => {
        const two = cluster({}, ["c1", "c3"]);
        assert.equal(removed(leaving({ cluster: two })).howToLeave, "member-remove");
        assert.equal(removed(leaving({ host: stopped(controllerHost("c3")) })).howToLeave, "member-remove");
    });

    it("refuses the last controller, and what quorum or minControllers forbid", () => {
        assert.equal(refused(planRemove(leaving({ cluster: cluster({}, ["c3"]) }))).topic, "quorum");
        assert.equal(refused(planRemove(leaving({ inputs: { ...inputs, minControllers: 3 } }))).topic, "quorum");
        const members = [member("c1"), member("c2", { health: "unhealthy" }), member("c3")];
        assert.equal(refused(planRemove(leaving({ cluster: cluster({ members }) }))).topic, "quorum");
    });

    it("refuses to strand workers, unless it is told to or they do not depend on it", () => {
        const nodes = [...cluster().nodes, node("w1")];
        const facts = { cluster: cluster({ nodes }) };
        const refusal = refused(planRemove(leaving(facts)));
        assert.equal(refusal.topic, "stranded-workers");
        assert.match(refusal.advice ?? "", /--parallel/);
        assert.ok(removed(leaving({ ...facts, apiAccess: "external" })));
        assert.ok(removed(leaving({ ...facts, inputs: { ...inputs, allowStrandedWorkers: true } })));
    });

    it("never skips etcd for a host whose own etcd serves this cluster", () => {
        const targetEtcd = { clusterId: 0xabcn, memberIds: undefined };
        const refusal = refused(
            planRemove(leaving({ cluster: { ...twoControllers, nodes: cluster().nodes }, targetEtcd })),
        );
        assert.equal(refusal.topic, "second-cluster");
    });

    it("takes a controller whose etcd hangs out by ID, and asks nothing of it", () => {
        const hung = [member("c1"), member("c2"), member("c3", { health: "unhealthy" })];
        const plan = removed(leaving({ cluster: cluster({ members: hung }), targetEtcd: { hangs: "x" } }));
        assert.deepEqual([plan.steps.leave, plan.howToLeave], ["leave", "member-remove"]);
        assert.equal(removed(leaving({ targetEtcd: { hangs: "x" } })).howToLeave, "member-remove");
    });

    describe("whose etcd runs and cannot be asked what it serves", () => {
        const targetEtcd = { hangs: "its SSH server forbids port forwarding" };
        const holding = (clusterId: bigint, id = memberId("c3")): HostFacts =>
            controllerHost("c3", { data: { ...controllerHost("c3").data, etcdIds: { memberId: id, clusterId } } });
        const dead = cluster({ members: [member("c1"), member("c2"), member("c3", { health: "unhealthy" })] });

        it("is reset where its member is proven healthy, or its database is this cluster's by its own words", () => {
            assert.equal(removed(leaving({ targetEtcd })).steps.machine, "reset");
            const plan = removed(leaving({ targetEtcd, cluster: dead, host: holding(0xabcn) }));
            assert.deepEqual([plan.steps.machine, plan.doubt], ["reset", undefined]);
        });

        it("is taken out of etcd and not reset where nobody proves that its member is of this cluster", () => {
            for (const host of [controllerHost("c3"), holding(1n), holding(0xabcn, 7n)]) {
                const plan = removed(leaving({ targetEtcd, cluster: dead, host }));
                assert.deepEqual([plan.steps.leave, plan.howToLeave], ["leave", "member-remove"]);
                assert.deepEqual([plan.steps.machine, plan.touchesHost, plan.node], ["none", false, undefined]);
                assert.equal(plan.doubt?.topic, "second-cluster");
                assert.equal(plan.lookAgain, true);
                assert.match(plan.doubt.advice ?? "", /stop k0scontroller/);
            }
        });

        it("is left as it is where it has no member, until its k0s is stopped", () => {
            const expelled = { ...twoControllers, nodes: cluster().nodes };
            const refusal = refused(planRemove(leaving({ targetEtcd, cluster: expelled })));
            assert.equal(refusal.topic, "second-cluster");
            assert.match(refusal.evidence.join(), /forbids port forwarding/);
            assert.match(refusal.advice ?? "", /stop k0scontroller/);
        });
    });

    it("drains and resets a worker", () => {
        const facts = cluster({ nodes: [...cluster().nodes, node("w1")] });
        const plan = removed({ ...worker({ host: workerHost("w1"), cluster: facts }) });
        assert.equal(plan.steps.drain && plan.steps.deleteNode && plan.steps.machine === "reset", true);
        assert.equal(plan.node?.name, "w1");
        assert.equal(plan.member, undefined);
    });

    it("only reports a worker whose host is clean, and says that its Node stays", () => {
        const facts = cluster({ nodes: [...cluster().nodes, node("w1")] });
        const plan = removed(worker({ cluster: facts }));
        assert.equal(plan.steps.machine, "none");
        assert.equal(plan.node, undefined);
        assert.ok(plan.notes.includes("Node w1 stays registered: `kubectl delete node w1` takes it away"));
    });

    it("writes nothing to a machine that is not ours, and says so", () => {
        const host = { ...controllerHost("c3"), marker: undefined };
        const plan = removed(leaving({ host, state: { token: TOKEN, memberId: memberId("c3") } }));
        assert.equal(plan.touchesHost, false);
        assert.equal(plan.steps.machine, "none");
        assert.equal(plan.steps.leave, "leave");
        assert.match(plan.notes.join(), /nothing is done on 10\.0\.0\.3/);
    });

    it("leaves a node alone that its replacement of this process has claimed", () => {
        const host = controllerHost("c3", { marker: marker("c3", "controller", { token: "newer" }) });
        const situation = leaving({ host });
        assert.equal(planRemove({ ...situation, tokensOfThisProcess: ["newer"] }).kind, "leave-alone");
        assert.equal(refused(planRemove(situation)).topic, "other-owner");
    });

    it("refuses a node that is marked as somebody else's on its Node", () => {
        const annotations = { [OWNER_ANNOTATION]: "organization/other/dev/x", [TOKEN_ANNOTATION]: "x" };
        const facts = cluster({ nodes: [node("c1"), node("c2"), node("c3", { annotations })] });
        assert.equal(refused(planRemove(leaving({ cluster: facts }))).topic, "other-owner");
    });

    it("fails for another cluster's host", () => {
        const ca = { pki: "sha256:99", kubelet: undefined, unreadable: false };
        assert.equal(refused(planRemove(leaving({ host: controllerHost("c3", { ca }) }))).topic, "foreign-cluster");
    });
});

describe("finishing an interrupted removal", () => {
    const operation = record("remove", { removing: "f03" });
    const marked = { marker: marker("c3", "controller", { operation }) };

    it("does by ID a leave of ours that never ended", () => {
        const asked = (annotations: Record<string, string>): ClusterFacts =>
            cluster({
                etcdMembers: [etcdMember("c1"), etcdMember("c2"), etcdMember("c3", { leave: true, annotations })],
            });
        const facts = asked({ [LEAVE_ANNOTATION]: "f03" });
        const plan = removed(leaving({ host: controllerHost("c3", marked), cluster: facts }));
        assert.equal(plan.steps.leave, "leave");
        assert.equal(plan.howToLeave, "member-remove");
        assert.equal(removed(leaving({ cluster: facts })).steps.leave, "wait-left");
        // We wait for what somebody else asked for, also when we waited in vain before.
        const again = removed(leaving({ host: controllerHost("c3", marked), cluster: asked({}) }));
        assert.equal(again.steps.leave, "wait-left");
    });

    it("does not wait for ever for the object of a member that we took out", () => {
        const object = etcdMember("c3", { leave: true, annotations: { [LEAVE_ANNOTATION]: "f03" } });
        const facts = { ...twoControllers, etcdMembers: [...twoControllers.etcdMembers, object] };
        const waiting = removed(leaving({ cluster: facts }));
        assert.deepEqual([waiting.steps.leave, waiting.resumes], ["wait-joined-false", undefined]);
        const ours = removed(leaving({ host: controllerHost("c3", marked), cluster: facts }));
        assert.deepEqual([ours.steps.leave, ours.resumes?.id], ["wait-joined-false", "operation-1"]);
    });

    it("goes on where our removal left an object that looks removed from outside", () => {
        const facts = { ...twoControllers, nodes: cluster().nodes, etcdMembers: cluster().etcdMembers };
        const plan = removed(leaving({ host: stopped(controllerHost("c3", marked)), cluster: facts }));
        assert.equal(plan.steps.deleteObject && plan.steps.leave === "none" && plan.steps.machine === "reset", true);
        assert.equal(plan.resumes?.id, "operation-1");
        const host = stopped(controllerHost("c3"));
        assert.equal(refused(planRemove(leaving({ host, cluster: facts }))).topic, "removed-out-of-band");
    });

    it("resets what a half-done reset left", () => {
        const host = blankHost("c3", {
            binary: BINARY,
            units: { controller: unit(["k0s", "controller", "--enable-worker"], "inactive"), worker: undefined },
            ...marked,
        });
        assert.equal(removed(leaving({ host, cluster: twoControllers })).steps.machine, "reset");
    });

    it("takes back the member of an add that failed before", () => {
        const host = stopped(
            controllerHost("c3", {
                marker: marker("c3", "controller", { operation: record("add") }),
                data: { ...NO_DATA, pki: true },
            }),
        );
        const plan = removed(leaving({ host, cluster: unstarted(), state: { token: TOKEN } }));
        assert.equal(plan.steps.leave, "leave");
        assert.equal(plan.howToLeave, "member-remove");
        assert.equal(plan.member?.name, "");
    });

    it("takes no member for the one that was being removed but that one", () => {
        const members = [member("c1"), member("c2"), member("c3", { id: 0xf33n })];
        const host = stopped(
            controllerHost("c3", { ...marked, ca: { pki: CA, kubelet: undefined, unreadable: false } }),
        );
        const etcdMembers = [etcdMember("c1"), etcdMember("c2")];
        const refusal = refused(
            planRemove(leaving({ host, cluster: cluster({ members, etcdMembers }), state: { token: TOKEN } })),
        );
        assert.equal(refusal.topic, "member-without-cr");
    });
});
