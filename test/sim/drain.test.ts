import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { worker } from "../../provider";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { type Simulation, startSimulation } from ".";
import { created, programOf } from "./program-of";
import { RESOURCES } from "./model/store";

const FIRST_TURN = "pulumi-mke-drain-0";
const SECOND_TURN = "pulumi-mke-drain-1";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

describe("drains of a simulated cluster", () => {
    let sim: Simulation;
    const made = new Map<string, { readonly id: string; readonly outs: Bag }>();

    beforeEach(async () => {
        forgetControllers();
        sim = await startSimulation({ speed: 30, wobble: false });
        sim.host("c1", { address: "10.77.0.11" });
        sim.bootstrapController("c1");
    });

    afterEach(async () => {
        made.clear();
        closeAll();
        forgetControllers();
        await sim.close();
    });

    async function addWorkers(drain: Bag, names: readonly string[], more: Bag = {}): Promise<void> {
        for (const name of names) sim.host(name, { address: `10.77.0.3${name.slice(1)}` });
        await Promise.all(
            names.map(async (name) => {
                made.set(name, await created(worker, programOf(sim, name, { drain, ...more })));
            }),
        );
    }

    async function remove(name: string): Promise<void> {
        const node = made.get(name);
        assert.ok(node);
        await worker.delete(node.id, node.outs);
    }

    const node = (name: string) => sim.cluster.store.get(RESOURCES.nodes, name);
    const writes = (): string[] => sim.events.filter(({ kind }) => kind === "api-write").map(({ what }) => what);
    const at = (what: RegExp): number => writes().findIndex((write) => what.test(write));

    it("that must succeed end the removal by name, and give the Node back; the next run finishes it", async () => {
        await addWorkers({ onFailure: "fail", timeout: 20 }, ["w1"]);
        sim.addPod("w1", { name: "db", namespace: "shop", blocked: true });
        sim.addPod("w1", { name: "hooked", namespace: "shop", failingWebhook: "guard.example.com" });
        sim.addPod("w1", { name: "queue", namespace: "shop", finalizers: ["example.com/drained"] });
        sim.addPod("w1", { name: "web", namespace: "shop" });
        sim.addPod("w1", { name: "static", namespace: "kube-system", mirror: true });
        await assert.rejects(remove("w1"), (error: Error) => {
            for (const part of [
                /3 pods left: shop\/db, shop\/hooked, shop\/queue;/,
                /held by a disruption budget: shop\/db \(The disruption budget db needs 1 healthy pods and has 1 currently\)/,
                /eviction fails: shop\/hooked \(Internal error occurred: failed calling webhook "guard\.example\.com"/,
                /waiting for finalizers: shop\/queue \(example\.com\/drained\)/,
                /mirror pods, left alone: kube-system\/static/,
                /Node w1 is schedulable again, because the removal stopped there\./,
            ]) {
                assert.match(error.message, part);
            }
            return true;
        });
        assert.equal(node("w1")?.spec?.["unschedulable"], undefined);
        assert.equal(sim.find("w1").units.get("k0sworker")?.active, "active");
        for (const name of ["db", "hooked", "queue"]) sim.cluster.store.delete(RESOURCES.pods, name, "shop");
        await remove("w1");
        assert.equal(node("w1"), undefined);
        sim.assertInvariants();
    });

    it("go on where the program says so, and the removal ends", async () => {
        await addWorkers({ onFailure: "continue", timeout: 1 }, ["w1"]);
        sim.addPod("w1", { name: "db", blocked: true });
        await remove("w1");
        assert.equal(node("w1"), undefined);
    });

    it("of two workers that are removed at once come one after the other", async () => {
        await addWorkers({}, ["w1", "w2"]);
        for (const name of ["w1", "w2"]) sim.addPod(name, { name: `app-${name}`, terminationSeconds: 30 });
        const before = writes().length;
        await Promise.all([remove("w1"), remove("w2")]);
        const drained = writes()
            .slice(before)
            .filter((write) => /eviction$|drain-\d$/.test(write))
            .map((write) => write.replace(/.*\/(?=pods)|.*leases\//, "").replace(/^POST |\/eviction$/g, ""));
        const evicted = [...new Set(drained.filter((write) => write.startsWith("pods/")))];
        assert.equal(evicted.length, 2);
        const between = drained.slice(drained.indexOf(evicted[0] ?? ""), drained.indexOf(evicted[1] ?? ""));
        assert.ok(between.includes(FIRST_TURN), `the first turn ended before the second began: ${drained.join(" ")}`);
        assert.equal(
            writes().some((write) => write.includes(SECOND_TURN)),
            false,
        );
        assert.deepEqual([node("w1"), node("w2")], [undefined, undefined]);
    });

    it("of two workers run side by side where the program says so", async () => {
        await addWorkers({ concurrency: 2 }, ["w1", "w2"]);
        for (const name of ["w1", "w2"]) sim.addPod(name, { name: `app-${name}`, blocked: true });
        const removing = Promise.all([remove("w1"), remove("w2")]);
        const isDraining = (name: string): boolean => at(new RegExp(`app-${name}/eviction`)) >= 0;
        await sim.until("both drain", () => isDraining("w1") && isDraining("w2"));
        const isOver = new RegExp(`DELETE ${LEASES}/pulumi-mke-drain-`);
        assert.equal(at(isOver), -1, "both before one had ended");
        for (const name of ["w1", "w2"]) sim.cluster.store.delete(RESOURCES.pods, `app-${name}`, "default");
        await removing;
        assert.ok(at(new RegExp(`DELETE ${LEASES}/${SECOND_TURN}`)) > 0);
    });

    it("do not wait for pods of a kubelet that is gone", async () => {
        await addWorkers({ onFailure: "fail" }, ["w1"], {
            onUnreachable: "remove-from-cluster",
            timeouts: { connect: 5 },
        });
        sim.addPod("w1", { name: "app" });
        sim.find("w1").powerOff();
        await remove("w1");
        assert.equal(node("w1"), undefined);
    });
});
