import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { controller } from "../../provider";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { type Simulation, startSimulation } from "../sim";
import { created, programOf } from "../sim/program-of";

/** By DNS name or through an address translator as `host`, by its private address in `cluster.controllers`. */
describe("a controller that the program names in two ways", () => {
    let sim: Simulation;

    beforeEach(async () => {
        forgetControllers();
        sim = await startSimulation({ speed: 30 });
        for (const index of [1, 2, 3]) sim.host(`c${index}`, { address: `10.77.0.1${index}` });
        sim.bootstrapController("c1");
    });

    afterEach(async () => {
        closeAll();
        forgetControllers();
        await sim.close();
    });

    async function adopt(name: string, helpers: readonly string[]): Promise<{ id: string; outs: Bag }> {
        const controllers = helpers.map((helper) => ({
            host: sim.find(helper).address,
            connection: sim.connectionArgs(helper),
        }));
        const program = programOf(sim, name, { host: name, onLastController: "reset", cluster: { controllers } });
        return created(controller, program);
    }

    it("is never its own helper where there are others", async () => {
        for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
        const { id, outs } = await adopt("c3", ["c3", "c1", "c2"]);
        const { props } = await controller.read(id, outs);
        assert.deepEqual([props?.["status"], props?.["drift"]], ["ready", []]);
        await controller.delete(id, outs);
        assert.deepEqual(sim.memberNames(), ["c1", "c2"]);
        assert.equal(sim.find("c3").units.installed, undefined);
        sim.assertInvariants();
    });

    it("is known for the last one, which nobody else can help", async () => {
        const { id, outs } = await adopt("c1", ["c1"]);
        await controller.delete(id, outs);
        assert.equal(sim.find("c1").units.installed, undefined);
    });
});
