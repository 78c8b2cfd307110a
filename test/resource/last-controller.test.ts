import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES } from "../sim";
import { LOOKING } from "../support/looking";
import { impatientLocks, World } from "../support/interruption";

const DOWN = "its k0s cannot be asked, and it is the only controller there is";

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

describe("a controller that is the only one there is, and whose k0s is stopped", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());

    const start = async (more: Bag) => {
        world = await World.start([]);
        const program = { onLastController: "reset", backup: { skip: true }, ...more };
        const one = await world.create("c1", program);
        const c1 = world.sim.find("c1");
        c1.stopService();
        return { sim: world.sim, one, program, c1 };
    };

    it("is drift that names it, and the next up starts it", async () => {
        const { one, program, c1 } = await start({});
        const seen = await world.refresh("c1", one);
        assert.deepEqual([seen["status"], seen["drift"]], ["degraded", [DOWN]]);
        assert.equal((await world.update("c1", one.id, seen, program))["status"], "ready");
        assert.equal(c1.units.installed?.active, "active");
    });

    it("is started by a removal too, which then ends the cluster as ever", async () => {
        const { one, c1 } = await start({});
        await controller.delete(one.id, one.outs);
        assert.equal(c1.units.installed, undefined);
    });

    it("is neither started nor reset without its database, until the program says that both may be", async () => {
        const { one, program, c1, sim } = await start({});
        c1.files.removeTree("/var/lib/k0s/etcd/member/snap");
        const before = sim.events.length;
        const refusal = { message: /new cluster with the same CA[^]*onUnreachable[^]*#lone-controller/ };
        await assert.rejects(world.update("c1", one.id, one.outs, program), refusal);
        await assert.rejects(controller.delete(one.id, one.outs), refusal);
        const programs = sim.events.slice(before).filter(({ kind }) => kind === "program");
        assert.deepEqual(
            [...new Set(programs.map(({ what }) => what))].filter((what) => !LOOKING.has(what)),
            [],
        );
        const seen = await world.refresh("c1", one);
        const outs = await world.update("c1", one.id, seen, { ...program, onUnreachable: "remove-from-cluster" });
        await assert.rejects(
            world.update("c1", one.id, outs, { ...program, onUnreachable: "remove-from-cluster" }),
            /lone-controller/,
            "nothing but inputs is stored for a node that stays broken",
        );
        await controller.delete(one.id, outs);
        assert.equal(c1.units.installed, undefined);
    });
});
