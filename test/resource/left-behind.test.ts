import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { RefusedError } from "../../provider/errors";
import { RESOURCES } from "../sim";
import { impatientLocks, World } from "../support/interruption";

describe("the Node of a wiped host, which its removal leaves behind", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());

    it("is named to other operations, with the command that takes it away", async () => {
        world = await World.start(["c2", "w1"]);
        const { sim } = world;
        const made = await world.create("w1");
        const host = sim.find("w1");
        const { machineId } = host;
        host.wipe();
        host.machineId = machineId;
        await world.rest();
        await World.kindOf("w1").delete(made.id, made.outs);
        assert.ok(sim.cluster.store.get(RESOURCES.nodes, "w1"), "the matrix keeps it");
        await world.rest();
        const add = () => world.create("c3", { backup: { skip: true } });
        await assert.rejects(
            add(),
            (error: Error) => error instanceof RefusedError && /`kubectl delete node w1`/.test(error.message),
        );
        // The way out.
        sim.world.act(() => sim.cluster.store.delete(RESOURCES.nodes, "w1"));
        await add();
    });
});
