import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { LeaseObject } from "../../provider/adapters/kube";
import type { Exempt } from "../../provider/decide/cluster-health";
import { Deadline } from "../../provider/deadline";
import { RefusedError, TimeoutError } from "../../provider/errors";
import type { ClusterFacts } from "../../provider/facts/cluster";
import { whileMoving } from "../../provider/lock";
import { proveJoinable, proveRemovable, proveUnchanged } from "../../provider/stages/baseline";
import { requireStableCluster, verifyMembership } from "../../provider/stages/check-cluster";
import { cluster, etcdMember, member, memberId, node, NOW } from "../decide/build";
import { listed } from "../support/fake-etcd";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

const two = cluster({}, ["c1", "c2"]);
const NO_ONE: Exempt = { nodeNames: [], memberIds: [] };

const require_ = (facts: ClusterFacts, exempt = NO_ONE, options: SceneOptions = {}): Promise<unknown> =>
    requireStableCluster(scene({ cluster: facts, ...options }).operation, exempt, Deadline.after(200));

const notReady = (readySince: number): ClusterFacts =>
    cluster({ nodes: [node("c1"), node("c2"), node("w1", { ready: false, readySince })] });

describe("a cluster that is to be changed", () => {
    it("may be changed when everything in it is healthy", async () => {
        await require_(cluster());
    });

    it("is refused at once when something is broken that does not pass by itself, with the section of the runbook", async () => {
        const world = scene({ cluster: cluster({ members: [member("c1"), member("c2", { learner: true })] }) });
        await assert.rejects(requireStableCluster(world.operation, NO_ONE, Deadline.after(60_000)), (error: Error) => {
            assert.ok(error instanceof RefusedError);
            assert.match(error.message, /^checking the cluster on 10\.0\.0\.1: etcd member c2 .* is a learner/);
            assert.equal(error.topic, "unhealthy-bystander");
            return true;
        });
    });

    it("is refused when another controller's API server does not show our lock: it is an isolated cluster", async () => {
        await assert.rejects(
            require_(cluster(), NO_ONE, { others: { lease: async () => undefined } }),
            /c2 .* is not healthy/,
        );
    });

    it("is waited for while something passes by itself, and the end of the wait names it", async () => {
        await assert.rejects(require_(notReady(NOW)), (error: Error) => {
            assert.ok(error instanceof TimeoutError);
            assert.match(error.message, /last seen: Node w1 is NotReady/);
            return true;
        });
    });

    it("is fine once that has passed", async () => {
        const wobbling = notReady(NOW);
        let looks = 0;
        const nodes = async (): Promise<ClusterFacts["nodes"]> =>
            (looks += 1) === 1 ? wobbling.nodes : cluster().nodes;
        const { operation } = scene({ cluster: wobbling, kube: { nodes } });
        await requireStableCluster(operation, NO_ONE, Deadline.after(60_000));
        assert.equal(looks, 2);
    });

    it("is refused for a Node that has been NotReady for long, unless it is the target", async () => {
        await assert.rejects(require_(notReady(1)), RefusedError);
        await require_(notReady(1), { nodeNames: ["w1"], memberIds: [] });
    });
});

describe("nodes that other operations move", () => {
    const held = (name: string, change: Partial<LeaseObject> = {}): LeaseObject => ({
        ...{ namespace: "kube-system", name, holder: "a/b/c/somebody/0a0a", durationSeconds: 60, uid: `uid-${name}` },
        ...{ labels: {}, annotations: {}, resourceVersion: "1" },
        acquireTime: new Date().toISOString(),
        renewTime: new Date().toISOString(),
        ...change,
    });
    const withLeases = (...leases: LeaseObject[]): SceneOptions => ({ kube: { leases: async () => leases } });
    const old = { renewTime: "2020-01-01T00:00:00.000000Z" };

    it("do not count while their operation lives", async () => {
        await require_(notReady(1), NO_ONE, withLeases(held("pulumi-mke-node-w1")));
        await assert.rejects(require_(notReady(1), NO_ONE, withLeases(held("pulumi-mke-node-w2"))), RefusedError);
    });

    it("do not count while their removal or rebuild waits for its turn in this process, and do again afterwards", async () => {
        const { clusterId } = cluster().helper;
        await whileMoving({ clusterId, nodeName: "w1" }, async () => {
            await require_(notReady(1));
        });
        await whileMoving({ clusterId: "another", nodeName: "w1" }, async () => {
            await assert.rejects(require_(notReady(1)), RefusedError);
        });
        await assert.rejects(whileMoving({ clusterId, nodeName: "w1" }, () => Promise.reject(new Error("ended"))));
        const left = { ...notReady(1), heartbeats: {} };
        await assert.rejects(
            require_(left, NO_ONE, { kube: { leases: async () => [] } }),
            /Node w1 is NotReady\nNothing was changed\.[^]*`kubectl delete node w1`/,
        );
    });

    it("count again once their lock is given back", async () => {
        const released = withLeases(held("pulumi-mke-node-w1", { holder: "" }));
        await assert.rejects(require_(notReady(1), NO_ONE, released), RefusedError);
    });

    it("are waited for where nobody can tell yet whether their operation lives", async () => {
        const waiting = require_(notReady(1), NO_ONE, withLeases(held("pulumi-mke-node-w1", old)));
        await assert.rejects(waiting, TimeoutError);
        let renewals = 0;
        const leases = async (namespace: string): Promise<LeaseObject[]> =>
            namespace === "kube-system"
                ? [held("pulumi-mke-node-w1", { renewTime: `2020-01-01T00:00:0${(renewals += 1)}.000000Z` })]
                : [];
        const { operation } = scene({ cluster: notReady(1), kube: { leases } });
        await requireStableCluster(operation, NO_ONE, Deadline.after(60_000));
        assert.equal(renewals, 2);
    });

    it("do not excuse anybody else", async () => {
        const facts = cluster({
            nodes: [
                node("c1"),
                node("w1", { ready: false, readySince: 1 }),
                node("w2", { ready: false, readySince: 1 }),
            ],
        });
        await assert.rejects(require_(facts, NO_ONE, withLeases(held("pulumi-mke-node-w1"))), (error: Error) => {
            assert.match(error.message, /Node w2 is NotReady\n/);
            return true;
        });
    });

    it("that are controllers are waited for, as is what etcd shows of them meanwhile", async () => {
        const facts = cluster({ members: [member("c1"), member("c2", { learner: true })] });
        const moving = withLeases(held("pulumi-mke-control-plane"));
        await assert.rejects(require_(facts, NO_ONE, moving), (error: Error) => {
            assert.ok(error instanceof TimeoutError);
            assert.match(error.message, /last seen: etcd member c2 .* is a learner/);
            return true;
        });
    });

    it("do not count after a membership change either", async () => {
        const world = scene(withLeases(held("pulumi-mke-node-w1")));
        world.etcd.members = world.etcd.members.slice(0, 2);
        world.kube.nodes = [...world.kube.nodes, node("w1", { ready: false, readySince: 1 })];
        await verifyMembership(world.operation, { removed: memberId("c3") }, Deadline.after(0));
    });
});

describe("a cluster that was changed", () => {
    const verify = (world: Scene, change: Parameters<typeof verifyMembership>[1]): Promise<unknown> =>
        verifyMembership(world.operation, change, Deadline.after(0));

    /** c3 joined after the decision. */
    const joined = (): Scene => {
        const world = scene({ cluster: two });
        world.etcd.members = [...world.etcd.members, listed(member("c3"))];
        world.kube.etcdMembers = [...world.kube.etcdMembers, etcdMember("c3")];
        return world;
    };

    const left = (): Scene => {
        const world = scene();
        world.etcd.members = world.etcd.members.slice(0, 2);
        return world;
    };

    it("has the members of before and the one that was added", async () => {
        assert.equal(await verify(joined(), { added: memberId("c3") }), "3 healthy members");
        await assert.rejects(verify(joined(), {}), /member f03 was not there before/);
    });

    it("has the members of before without the one that was removed", async () => {
        assert.equal(await verify(left(), { removed: memberId("c3") }), "2 healthy members");
        await assert.rejects(verify(left(), {}), /member f03 is missing/);
    });

    it("is not sound while a bystander is not", async () => {
        const world = scene({ others: { isReady: async () => false } });
        world.etcd.members = world.etcd.members.slice(0, 2);
        await assert.rejects(verify(world, { removed: memberId("c3") }), /etcd member c2 .* is not healthy/);
    });

    it("is not judged by the target's own Node", async () => {
        const world = left();
        world.kube.nodes = [node("c1"), node("c2"), node("c3", { ready: false })];
        await verify(world, { removed: memberId("c3") });
    });
});

describe("immediately before a call that cannot be undone", () => {
    it("the lock is proven first, then the members are compared by ID in any order", async () => {
        const world = scene();
        world.etcd.members = [...world.etcd.members].reverse();
        await proveUnchanged(world.operation, "leaving etcd");
        assert.equal(world.calls[0], "lock prove");
        assert.ok(world.calls.includes("etcd members"));
    });

    it("a member that was replaced by another of the same name is a change", async () => {
        const world = scene();
        world.etcd.members = world.etcd.members.map((one) => (one.name === "c2" ? { ...one, id: 0xbadn } : one));
        await assert.rejects(proveUnchanged(world.operation, "leaving etcd"), /f01, f02, f03 then, bad, f01, f03 now/);
    });

    it("a removal is refused when another controller died since it was decided", async () => {
        const world = scene({ others: { isReady: () => Promise.resolve(false) } });
        for (const method of ["spec-leave", "member-remove"] as const) {
            const proof = proveRemovable(world.operation, "leaving etcd", 0xf03n, method);
            await assert.rejects(proof, { name: "RefusedError", topic: "quorum" });
        }
    });

    it("a removal is allowed while all controllers are healthy", async () => {
        await proveRemovable(scene().operation, "leaving etcd", 0xf03n, "spec-leave");
    });

    it("a join is refused when a controller died since it was decided", async () => {
        const world = scene({ others: { isReady: () => Promise.resolve(false) } });
        await assert.rejects(proveJoinable(world.operation, "starting k0s"), { topic: "quorum" });
    });

    it("a lost lock is enough to stop", async () => {
        const world = scene();
        world.loseLock();
        await assert.rejects(proveUnchanged(world.operation, "leaving etcd"), { name: "LockError" });
    });
});
