import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { controller } from "../../provider";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import { RESOURCES, type Simulation, startSimulation } from ".";
import { created, programOf } from "./program-of";

/** Two controllers, and a worker that was told of the API by a name. */
describe("a worker that knows the API by a name", () => {
    let sim: Simulation;

    beforeEach(async () => {
        forgetControllers();
        sim = await startSimulation({ speed: 60, wobble: false });
        sim.host("c1", { address: "10.77.0.11" });
        sim.host("c2", { address: "10.77.0.12" });
        sim.host("w1", { address: "10.77.0.31" });
        sim.bootstrapController("c1");
        sim.addSettled("c2", "controller+worker");
        sim.addSettled("w1", "worker");
        sim.cluster.store.update(RESOURCES.nodes, "w1", ({ metadata }) => {
            metadata.annotations = { "pulumi-mke/api-server": "https://api.lab.test:6443" };
        });
    });

    afterEach(async () => {
        closeAll();
        forgetControllers();
        await sim.close();
    });

    const leads = (...addresses: readonly string[]): unknown => sim.world.network.names.set("api.lab.test", addresses);

    it("keeps a controller while the name leads to it alone, or nowhere, and lets it go once it leads elsewhere too", async () => {
        const { id, outs } = await created(controller, programOf(sim, "c2"));
        await assert.rejects(controller.delete(id, outs), {
            message: /worker w1 reaches the API through api\.lab\.test, and /,
        });
        leads("10.77.0.12");
        await assert.rejects(controller.delete(id, outs), {
            message: /through api\.lab\.test, which leads to 10\.77\.0\.12/,
        });
        assert.equal(sim.members().length, 2);
        leads("10.77.0.11", "10.77.0.12");
        await controller.delete(id, outs);
        assert.deepEqual(sim.memberNames(), ["c1"]);
        sim.assertInvariants();
    });
});
