import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import type { SimEvent } from "../sim";
import { World } from "../support/interruption";

describe("a controller that helps and goes meanwhile", () => {
    let world: World;

    afterEach(() => world.close());

    /** Does that when such an event comes for the first time, after what is being done just then. */
    function when(isTime: (event: SimEvent) => boolean, action: () => void): void {
        world.sim.onEvent((event) => {
            if (!isTime(event)) return;
            world.sim.onEvent(undefined);
            queueMicrotask(action);
        });
    }

    it("is replaced by another one in a refresh, which finds no drift by it", async () => {
        world = await World.start(["c2", "c3"]);
        const { sim } = world;
        // Not etcd's leader, whose loss everybody would notice.
        const controllers = ["c2", "c1"].map((name) => {
            return { host: sim.find(name).address, connection: sim.connectionArgs(name) };
        });
        const { id, outs } = await world.create("c3", { cluster: { controllers } });
        let isStopped = false;
        when(
            ({ kind, what, host }) => kind === "program" && what === "probe" && host === "c3",
            () => {
                sim.find("c2").stopService();
                isStopped = true;
            },
        );
        const { status, drift } = await world.refresh("c3", { id, outs });
        assert.ok(isStopped);
        assert.deepEqual([status, drift], ["ready", []]);
    });

    it("is waited for by the last one, which begins when it is neither a controller nor blank", async () => {
        world = await World.start(["c2"]);
        const [one, two] = [await world.create("c1", { onLastController: "reset" }), await world.create("c2")];
        let removing: Promise<void> | undefined;
        when(
            ({ kind, what, host, values }) =>
                kind === "program" && what === "service" && host === "c2" && values?.["ACTION"] === "stop",
            () => {
                removing = controller.delete(one.id, one.outs);
                removing.catch(() => undefined);
            },
        );
        await controller.delete(two.id, two.outs);
        assert.ok(removing !== undefined);
        await removing;
        for (const name of ["c1", "c2"]) assert.equal(world.sim.find(name).units.installed, undefined);
    });
});
