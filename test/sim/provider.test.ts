import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { controller, type NodeProvider, worker } from "../../provider";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { type Simulation, startSimulation } from ".";
import { created, programOf } from "./program-of";

/** The provider as Pulumi drives it, knowing nothing of the simulation but a bastion. */
describe("the provider on a simulated cluster", () => {
    let sim: Simulation;

    beforeEach(async () => {
        forgetControllers();
        sim = await startSimulation({ speed: 30 });
        for (const index of [1, 2, 3]) sim.host(`c${index}`, { address: `10.77.0.1${index}` });
        sim.host("w1", { address: "10.77.0.31" });
        sim.bootstrapController("c1");
    });

    afterEach(async () => {
        closeAll();
        // The next simulation has other machines at the same addresses.
        forgetControllers();
        await sim.close();
    });

    const create = (kind: NodeProvider, name: string, more?: Bag): Promise<{ id: string; outs: Bag }> =>
        created(kind, programOf(sim, name, more));

    it("adds a controller and takes it out again", async () => {
        const { id, outs } = await create(controller, "c2");
        assert.equal(sim.members().length, 2);
        sim.assertInvariants();
        await controller.delete(id, outs);
        assert.deepEqual(sim.memberNames(), ["c1"]);
        sim.assertInvariants();
        assert.equal(sim.find("c2").units.installed, undefined);
    });

    it("adds a worker and takes it out again", async () => {
        const { id, outs } = await create(worker, "w1");
        assert.equal(sim.find("w1").units.get("k0sworker")?.active, "active");
        await worker.delete(id, outs);
        assert.equal(sim.find("w1").units.installed, undefined);
        sim.assertInvariants();
    });
});
