import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Eviction, PodObject } from "../../provider/adapters/kube";
import { Deadline } from "../../provider/deadline";
import { ApiError, LockError, TimeoutError } from "../../provider/errors";
import type { DrainInputs } from "../../provider/inputs";
import { nothingToDo, type Outcome } from "../../provider/stages/stage";
import { cordonNode, drainNode, uncordonNode } from "../../provider/stages/drain-node";
import { cluster, node, NOW } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";
import { warningOf } from "../support/outcome";

const DRAIN: DrainInputs = { enabled: true, timeout: 300, gracePeriod: -1, onFailure: "fail", concurrency: 1 };

function pod(name: string, change: Partial<PodObject> = {}): PodObject {
    const plain = { phase: "Running", ownerKind: "ReplicaSet", mirror: false, deleting: false, finalizers: [] };
    return { namespace: "shop", name, uid: `uid-${name}`, ...plain, ...change };
}

function draining(
    pods: readonly PodObject[],
    drain: Partial<DrainInputs> = {},
    kube: SceneOptions["kube"] = {},
): Scene {
    const world = scene({ inputs: { drain: { ...DRAIN, ...drain } }, kube });
    world.kube.pods = [...pods];
    return world;
}

const drain = ({ operation }: Scene, milliseconds = 60_000): Promise<Outcome> =>
    drainNode(operation, { turn: { prove: async () => undefined } }, Deadline.after(milliseconds));
const BUDGET = "The disruption budget db needs 1 healthy pods and has 1 currently";
const blocked = async (): Promise<Eviction> => ({ blocked: BUDGET });
const evictions = ({ calls }: Scene): string[] => only(calls, "kube evict");

describe("draining a node", () => {
    it("cordons by name, with our mark in the same patch", async () => {
        const world = draining([]);
        await cordonNode(world.operation);
        assert.deepEqual(world.calls, ["kube node c3", "kube setUnschedulable c3 true"]);
        const c3 = world.kube.nodes.find(({ name }) => name === "c3");
        assert.deepEqual([c3?.unschedulable, c3?.annotations], [true, { "pulumi-mke/cordoned": "operation-1" }]);
    });

    it("leaves a cordon alone that is somebody else's, and renews its own", async () => {
        const cordoned = (annotations: Record<string, string>): Scene => {
            const facts = cluster();
            const nodes = facts.nodes.map((one) => ({ ...one, unschedulable: true, annotations }));
            return scene({ cluster: { ...facts, nodes } });
        };
        const theirs = cordoned({});
        assert.deepEqual(await cordonNode(theirs.operation), nothingToDo("cordoned already"));
        assert.deepEqual(theirs.calls, ["kube node c3"]);
        const ours = cordoned({ "pulumi-mke/cordoned": "operation-0" });
        await cordonNode(ours.operation);
        assert.equal(ours.calls.length, 2);
    });

    it("takes a cordon back, and touches a Node that has none in nothing", async () => {
        const cordoned = cluster();
        const nodes = cordoned.nodes.map((node) => ({ ...node, unschedulable: true }));
        const world = scene({ cluster: { ...cordoned, nodes } });
        await uncordonNode(world.operation);
        assert.deepEqual(world.calls, ["kube node c3", "kube setUnschedulable c3 false"]);
        const marked = nodes.map((node) => ({
            ...node,
            unschedulable: false,
            annotations: { "pulumi-mke/cordoned": "operation-0" },
        }));
        const left = scene({ cluster: { ...cordoned, nodes: marked } });
        await uncordonNode(left.operation);
        assert.deepEqual(left.kube.nodes.find(({ name }) => name === "c3")?.annotations, {});
        const free = scene();
        assert.deepEqual(await uncordonNode(free.operation), nothingToDo("not cordoned"));
        assert.deepEqual(free.calls, ["kube node c3"]);
    });

    it("evicts every pod but those of DaemonSets and mirror pods, which would come back or stay", async () => {
        const world = draining([
            pod("web"),
            pod("bare", { ownerKind: undefined }),
            pod("cni", { ownerKind: "DaemonSet" }),
            pod("static", { mirror: true, ownerKind: "Node" }),
        ]);
        assert.equal(await drain(world), "2 pods evicted");
        assert.deepEqual(evictions(world), ["kube evict shop/web as it says", "kube evict shop/bare as it says"]);
    });

    it("has nothing to evict on an empty node", async () => {
        assert.equal(await drain(draining([]), 0), "0 pods evicted");
    });

    it("gives pods the time of the program", async () => {
        const world = draining([pod("web")], { gracePeriod: 0 });
        await drain(world);
        assert.deepEqual(evictions(world), ["kube evict shop/web 0"]);
    });

    it("asks again for a pod that a disruption budget holds", async () => {
        let asked = 0;
        const world: Scene = draining(
            [pod("db")],
            {},
            {
                evict: async () => {
                    asked += 1;
                    if (asked === 1) return blocked();
                    world.kube.pods = [];
                    return "accepted";
                },
            },
        );
        assert.equal(await drain(world), "1 pod evicted");
        assert.equal(asked, 2);
    });

    it("does not ask again for a pod that is ending, but waits for it", async () => {
        const world = draining([pod("web", { deleting: true })]);
        await assert.rejects(drain(world, 0), TimeoutError);
        assert.deepEqual(evictions(world), []);
    });

    it("fails at the end of its time with the pods, and by name what holds each", async () => {
        const pods = [
            pod("db"),
            pod("hooked"),
            pod("queue", { deleting: true, finalizers: ["example.com/x"] }),
            pod("slow", { deleting: true }),
            pod("etcd", { namespace: "kube-system", mirror: true }),
        ];
        const failed = 'Internal error occurred: failed calling webhook "w.example.com"';
        const world = draining(pods, {}, { evict: async ({ name }) => (name === "db" ? blocked() : { failed }) });
        await assert.rejects(drain(world, 0), (error: Error) => {
            assert.ok(error instanceof TimeoutError);
            for (const part of [
                "4 pods left: shop/db, shop/hooked, shop/queue, shop/slow",
                `held by a disruption budget: shop/db (${BUDGET})`,
                `eviction fails: shop/hooked (${failed})`,
                "waiting for finalizers: shop/queue (example.com/x)",
                "ending: shop/slow",
                "mirror pods, left alone: kube-system/etcd",
            ]) {
                assert.ok(error.message.includes(part), `${part} in ${error.message}`);
            }
            return true;
        });
    });

    it("goes on with the others where one call fails and may succeed later", async () => {
        const away = new ApiError({
            stage: "asking",
            what: "500 etcdserver: leader changed",
            code: 500,
            retryable: true,
        });
        const world: Scene = draining(
            [pod("web"), pod("db")],
            {},
            {
                evict: ({ name }) => {
                    if (name === "web") return Promise.reject(away);
                    world.kube.pods = world.kube.pods.filter((one) => one.name === "web");
                    return Promise.resolve("accepted");
                },
            },
        );
        await assert.rejects(drain(world, 0), /eviction fails: shop\/web \(500 etcdserver: leader changed\)/);
        assert.deepEqual(
            world.kube.pods.map(({ name }) => name),
            ["web"],
        );
    });

    it("evicts what has ended, also of a DaemonSet", async () => {
        const world = draining([
            pod("job", { phase: "Succeeded", ownerKind: "Job" }),
            pod("cni", { phase: "Failed", ownerKind: "DaemonSet" }),
        ]);
        assert.equal(await drain(world), "2 pods evicted");
    });

    it("does not wait for pods whose kubelet has been away for a minute, and names them", async () => {
        const world = draining([pod("web", { deleting: true }), pod("db", { deleting: true })]);
        const [c1, c2] = world.kube.nodes;
        assert.ok(c1 && c2);
        world.kube.nodes = [c1, c2, node("c3", { ready: false, readySince: NOW - 61_000 })];
        assert.equal(
            await drain(world, 0),
            "2 pods evicted; not waited for, because the kubelet is unreachable: shop/web, shop/db",
        );
        world.kube.nodes = [c1, c2, node("c3", { ready: false, readySince: NOW - 30_000 })];
        await assert.rejects(drain(world, 0), /ending: shop\/web, shop\/db/);
        world.kube.pods = [...world.kube.pods, pod("late")];
        world.kube.nodes = [c1, c2];
        await assert.rejects(
            drain(draining(world.kube.pods, {}, { node: async () => undefined, evict: blocked }), 0),
            /held by .*shop\/late .*; not waited for.*: shop\/web, shop\/db/,
        );
    });

    it("stops when the lock or the turn to drain is lost, whatever drain.onFailure says", async () => {
        const lost = draining([pod("db")], { onFailure: "continue" });
        lost.loseLock();
        await assert.rejects(drain(lost), LockError);
        assert.deepEqual(evictions(lost), []);
        const { operation, calls } = draining([pod("db")], { onFailure: "continue" });
        const error = new LockError({ stage: "holding the lock", what: "lost" });
        const turn = { prove: () => Promise.reject(error) };
        await assert.rejects(drainNode(operation, { turn }, Deadline.after(60_000)), error);
        assert.deepEqual(only(calls, "kube evict"), []);
    });

    it("names five pods and counts the others", async () => {
        const pods = [...Array(7).keys()].map((number) => pod(`p${number}`, { deleting: true }));
        await assert.rejects(drain(draining(pods), 0), /7 pods left: shop\/p0, shop\/p1, .*shop\/p4, 2 more/);
    });

    it("that is not complete stops the removal only where the program says so", async () => {
        const world = draining([pod("db")], { onFailure: "continue" }, { evict: blocked });
        assert.match(
            warningOf(await drain(world, 0)),
            /^not complete, going on \(drain\.onFailure is continue\): .*held by a disruption budget: shop\/db/,
        );
    });

    it("never goes on after any other failure", async () => {
        const forbidden = new ApiError({ stage: "asking", what: "forbidden", code: 403 });
        const world = draining([pod("db")], { onFailure: "continue" }, { evict: () => Promise.reject(forbidden) });
        await assert.rejects(drain(world), forbidden);
    });
});
