import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES, type Simulation, startSimulation } from ".";
import { type ProviderProcess, ProviderProcesses } from "./processes";
import { programOf } from "./program-of";

/** One `pulumi up` that adds a worker and removes a controller, which no lock keeps apart. */
describe("a worker's join beside the removal of the controller that it could join through", () => {
    let sim: Simulation;
    let processes: ProviderProcesses;
    let run: ProviderProcess;

    beforeEach(async () => {
        sim = await startSimulation({ speed: 20, wobble: false });
        for (const name of ["c1", "c2"]) sim.host(name, { address: `10.77.0.1${name.slice(1)}` });
        sim.host("w1", { address: "10.77.0.31" });
        sim.bootstrapController("c1");
        sim.addSettled("c2", "controller+worker");
        processes = await ProviderProcesses.start({ life: 60, joinLife: 900 });
        run = await processes.another();
    });

    afterEach(async function () {
        if (this.currentTest?.state === "failed") console.log(run.output.join("\n"));
        await processes.stop();
        await sim.close();
    });

    const create = (kind: "controller" | "worker", name: string, more: Bag = {}) =>
        run.create(kind, programOf(sim, name, { preflight: { os: false, minDiskMiB: false }, ...more }));
    const says = (what: RegExp): boolean => run.output.some((line) => what.test(line));
    const apiServerOf = (name: string): unknown =>
        sim.cluster.store.get(RESOURCES.nodes, name)?.metadata.annotations?.["pulumi-mke/api-server"];

    it("is waited for where it came first, and its worker counts", async () => {
        const { id, properties } = await create("controller", "c1");
        const joining = create("worker", "w1");
        await sim.until("the way is checked", () => says(/w1: checking reachability … \d+ paths?/));
        // so that its Node does not appear before the test wants it
        sim.find("c1").firewall({ port: 6443, from: sim.find("w1").address });
        const removing = run.delete("controller", id, properties).catch((error: unknown) => error as Error);
        await sim.until("the removal waits", () =>
            says(/c1: (waiting for what this run does on w1|comparing versions)/),
        );
        assert.equal(apiServerOf("w1"), undefined);
        sim.find("c1").clearFirewall();
        await joining;
        assert.equal(apiServerOf("w1"), "https://10.77.0.11:6443");
        assert.match(String(await removing), /worker w1 reaches the API through 10\.77\.0\.11/);
        assert.equal(sim.members().length, 2);
        sim.assertInvariants();
    });

    it("goes through another controller where the removal came first", async () => {
        const { id, properties } = await create("controller", "c1", { drain: { timeout: 100 } });
        sim.addPod("c1", { name: "db", blocked: true });
        const removing = run.delete("controller", id, properties);
        await sim.until("the removal drains", () => says(/c1: draining …$/));
        await create("worker", "w1");
        assert.equal(says(/c1: draining … (?!\d+ s so far)/), false, "it did not wait for the removal");
        assert.equal(apiServerOf("w1"), "https://10.77.0.12:6443");
        sim.cluster.store.delete(RESOURCES.pods, "db", "default");
        await removing;
        assert.deepEqual(sim.memberNames(), ["c2"]);
        sim.assertInvariants();
    });
});
