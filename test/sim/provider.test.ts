import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { controller, worker } from "../../provider";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { type Simulation, startSimulation } from ".";

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

    function inputs(name: string, more: Bag = {}): Bag {
        return {
            host: sim.find(name).address,
            connection: sim.connectionArgs(name),
            cluster: {
                controllers: sim.hosts
                    .filter((host) => host.units.get("k0scontroller") !== undefined)
                    .map((host) => ({ host: host.address, connection: sim.connectionArgs(host.name) })),
            },
            owner: `test/${name}`,
            ...more,
        };
    }

    async function create(kind: typeof controller, name: string, more: Bag = {}): Promise<{ id: string; outs: Bag }> {
        const checked = await kind.check({}, inputs(name, more));
        assert.deepEqual(checked.failures, []);
        return kind.create(checked.inputs);
    }

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
