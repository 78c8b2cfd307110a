import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { worker } from "../../provider";
import { RESOURCES } from "../sim";
import type { KubeObject } from "../sim/model/store";
import { impatientLocks, killed, Watch, World } from "../support/interruption";

describe("a cordon", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());
    const node = (): KubeObject | undefined => world.sim.cluster.store.get(RESOURCES.nodes, "w1");
    const change = (by: (object: KubeObject) => void): void => {
        const { sim } = world;
        sim.world.act(() => sim.cluster.store.update(RESOURCES.nodes, "w1", by));
    };
    const annotation = (): string | undefined => node()?.metadata.annotations?.["pulumi-mke/cordoned"];
    const isCordoned = (): boolean => node()?.spec?.["unschedulable"] === true;

    for (const uncordonedBy of ["the next up", "somebody else, who leaves our mark"]) {
        it(`of a person's stays, after one of ours was left by a killed removal and taken back by ${uncordonedBy}`, async () => {
            world = await World.start(["w1"]);
            const { sim } = world;
            const made = await world.create("w1");
            const watch = new Watch(sim, { what: "api-write c1 PATCH /api/v1/nodes/w1", nth: 1 });
            await killed(world, () => worker.delete(made.id, made.outs));
            assert.ok(watch.hasKilled);
            assert.deepEqual([isCordoned(), annotation() !== undefined], [true, true]);
            if (uncordonedBy !== "the next up") change((object) => delete object.spec?.["unschedulable"]);
            const outs = await world.update("w1", made.id, await world.refresh("w1", made));
            assert.deepEqual([isCordoned(), annotation(), outs["status"]], [false, undefined, "ready"]);
            change((object) => (object.spec = { ...object.spec, unschedulable: true }));
            await world.update("w1", made.id, outs);
            assert.equal(isCordoned(), true);
        });
    }
});
