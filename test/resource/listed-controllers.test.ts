import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { impatientLocks, World } from "../support/interruption";

describe("a listed controller that is no member and is switched off", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;

    afterEach(() => world.close());

    it("does not keep another one from joining", async () => {
        world = await World.start(["c2"]);
        const { sim } = world;
        sim.find("c3").powerOff();
        sim.host("c4", { address: sim.find("c3").address.replace(/\d+$/, "14") });
        const { outs } = await world.create("c4", { backup: { skip: true } });
        assert.equal(outs["status"], "ready");
        assert.deepEqual(sim.memberNames(), ["c1", "c2", "c4"]);
    });
});
