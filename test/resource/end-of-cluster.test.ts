import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller, worker } from "../../provider";
import { RESOURCES } from "../sim";
import { impatientLocks, World } from "../support/interruption";

const PROGRAM = { onLastController: "reset", backup: { skip: true } };

describe("the end of a cluster, on a simulated one", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());

    for (const [what, name, role, why] of [
        ["a Node", "w1", "worker", /other Nodes still exist: w1/],
        ["a member", "c2", "controller", /it is not the only etcd member/],
    ] as const) {
        it(`is refused where ${what} appears after the first look`, async () => {
            world = await World.start([]);
            const { sim } = world;
            const { id, outs } = await world.create("c1", PROGRAM);
            sim.onEvent((event) => {
                if (event.kind !== "api-write" || !event.what.includes("/leases")) return;
                sim.onEvent(undefined);
                sim.addSettled(name, role);
            });
            await assert.rejects(controller.delete(id, outs), { message: why });
            assert.equal(sim.find("c1").units.installed?.active, "active");
        });
    }

    it("resets no machine that is not provably ours", async () => {
        world = await World.start([]);
        const { sim } = world;
        const one = await world.create("c1", PROGRAM);
        const two = await world.create("w1");
        const w1 = sim.find("w1");
        w1.stopService();
        sim.world.act(() => sim.cluster.store.delete(RESOURCES.nodes, "w1"));
        await controller.delete(one.id, one.outs);
        w1.machineId = "another-machine";
        await worker.delete(two.id, two.outs);
        assert.notEqual(w1.units.installed, undefined, "its service is still there");
    });
});
