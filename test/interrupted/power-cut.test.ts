import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import { messageOf } from "../../provider/errors";
import { impatientLocks, World } from "../support/interruption";

describe("a controller whose power is cut in the middle of its removal", function () {
    this.timeout("10m");
    impatientLocks();
    let world: World;

    afterEach(() => world.close());

    it("is removed to the end once it is back, although a worker is broken by then", async () => {
        world = await World.start(["c2", "c3", "w1"]);
        const { sim } = world;
        const c3 = sim.find("c3");
        const inputs = { backup: { skip: true }, timeouts: { connect: 5, ready: 5 }, allowStrandedWorkers: true };
        const { id, outs } = await world.create("c3", inputs);
        sim.onEvent(({ kind, what, host }) => {
            if (kind === "program" && what === "service" && host === "c3" && !sim.memberNames().includes("c3"))
                c3.powerOff();
        });
        await assert.rejects(controller.delete(id, outs));
        sim.onEvent(undefined);
        assert.deepEqual(sim.memberNames(), ["c1", "c2"]);
        sim.find("w1").powerOff();
        await world.rest();
        await assert.rejects(controller.delete(id, outs), (error: unknown) => {
            assert.match(messageOf(error), /Nothing more was changed/);
            return true;
        });
        c3.powerOn();
        await world.rest();
        await controller.delete(id, outs);
        assert.deepEqual(sim.memberNames(), ["c1", "c2"]);
        assert.equal(c3.units.installed, undefined);
    });
});
