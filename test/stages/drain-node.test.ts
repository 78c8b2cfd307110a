import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { PodObject } from "../../provider/adapters/kube";
import { Deadline } from "../../provider/deadline";
import { ApiError, TimeoutError } from "../../provider/errors";
import type { DrainInputs } from "../../provider/inputs";
import { cordonNode, drainNode, uncordonNode } from "../../provider/stages/drain-node";
import { cluster } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

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

const drain = ({ operation }: Scene, milliseconds = 60_000): Promise<unknown> =>
    drainNode(operation, Deadline.after(milliseconds));
const evictions = ({ calls }: Scene): string[] => only(calls, "kube evict");

describe("draining a node", () => {
    it("cordons by name", async () => {
        const world = draining([]);
        await cordonNode(world.operation);
        assert.deepEqual(world.calls, [
            'kube annotateNode c3 {"pulumi-mke/cordoned":"operation-1"}',
            "kube setUnschedulable c3 true",
        ]);
    });

    it("takes a cordon back, and touches a Node that has none in nothing", async () => {
        const cordoned = cluster();
        const nodes = cordoned.nodes.map((node) => ({ ...node, unschedulable: true }));
        const world = scene({ cluster: { ...cordoned, nodes } });
        await uncordonNode(world.operation);
        assert.deepEqual(world.calls, [
            "kube node c3",
            "kube setUnschedulable c3 false",
            'kube annotateNode c3 {"pulumi-mke/cordoned":null}',
        ]);
        const free = scene();
        assert.equal(await uncordonNode(free.operation), "not cordoned");
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
                    if (asked === 1) return "blocked";
                    world.kube.pods = [];
                    return "accepted";
                },
            },
        );
        assert.equal(await drain(world), "1 pods evicted");
        assert.equal(asked, 2);
    });

    it("does not ask again for a pod that is ending, but waits for it", async () => {
        const world = draining([pod("web", { deleting: true })]);
        await assert.rejects(drain(world, 0), TimeoutError);
        assert.deepEqual(evictions(world), []);
    });

    it("fails at the end of its time with the pods, and what holds them", async () => {
        const pods = [pod("db"), pod("queue", { deleting: true, finalizers: ["example.com/x"] })];
        const world = draining(pods, {}, { evict: async () => "blocked" });
        await assert.rejects(drain(world, 0), (error: Error) => {
            assert.ok(error instanceof TimeoutError);
            const seen = "2 pods left: shop/db, shop/queue; held by a disruption budget: shop/db";
            assert.ok(error.message.includes(`${seen}; waiting for finalizers: shop/queue`), error.message);
            return true;
        });
    });

    it("names five pods and counts the others", async () => {
        const pods = [...Array(7).keys()].map((number) => pod(`p${number}`, { deleting: true }));
        await assert.rejects(drain(draining(pods), 0), /7 pods left: shop\/p0, shop\/p1, .*shop\/p4, 2 more/);
    });

    it("that is not complete stops the removal only where the program says so", async () => {
        const world = draining([pod("db")], { onFailure: "continue" }, { evict: async () => "blocked" });
        assert.match(
            String(await drain(world, 0)),
            /^not complete, going on \(drain\.onFailure is continue\): .*held by a disruption budget: shop\/db/,
        );
    });

    it("never goes on after any other failure", async () => {
        const forbidden = new ApiError({ stage: "asking", what: "forbidden", code: 403 });
        const world = draining([pod("db")], { onFailure: "continue" }, { evict: () => Promise.reject(forbidden) });
        await assert.rejects(drain(world), forbidden);
    });
});
