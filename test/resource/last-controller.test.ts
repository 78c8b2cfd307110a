import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import { forgetControllers } from "../../provider/resource/known-controllers";
import { RESOURCES } from "../sim";
import { impatientLocks, World } from "../support/interruption";

/** Each machine of a program of two controllers, where each names the other, is ended right after its node. */
describe("the last controller, whose program still lists one that went before", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());

    const start = async () => {
        world = await World.start(["c2"]);
        const { sim } = world;
        const only = (name: string) => ({
            onLastController: "reset",
            backup: { skip: true },
            cluster: {
                controllers: ["c1", "c2"]
                    .filter((one) => one !== name)
                    .map((one) => ({
                        host: sim.find(one).address,
                        connection: { ...sim.connectionArgs(one), perDialTimeout: 2, dialErrorLimit: 0 },
                    })),
            },
        });
        const one = await world.create("c1", only("c1"));
        const two = await world.create("c2", only("c2"));
        await controller.delete(two.id, two.outs);
        sim.find("c2").powerOff();
        return { sim, one };
    };

    it("may be removed: the cluster notes that the other one was taken out", async () => {
        const { sim, one } = await start();
        await controller.delete(one.id, one.outs);
        assert.equal(sim.find("c1").units.installed, undefined);
    });

    it("is not, where an older version took the other one out, until that is no longer listed", async () => {
        const { sim, one } = await start();
        const { store } = sim.cluster;
        const namespace = store.get(RESOURCES.namespaces, "kube-system");
        assert.match(namespace?.metadata.annotations?.["pulumi-mke/removed-controllers"] ?? "", /"memberId"/);
        sim.world.act(() =>
            store.update(RESOURCES.namespaces, "kube-system", ({ metadata }) => {
                delete metadata.annotations;
            }),
        );
        await assert.rejects(controller.delete(one.id, one.outs), {
            message: /Take one that is gone for good out of it/,
        });
        // The next run's process knows of it by the program alone.
        forgetControllers();
        const cluster = { controllers: [] };
        await controller.delete(one.id, { ...one.outs, cluster });
        assert.equal(sim.find("c1").units.installed, undefined);
    });
});
