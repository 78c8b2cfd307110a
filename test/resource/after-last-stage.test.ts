import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { DEFAULT_TIMING } from "../../provider/lock/timing";
import { RESOURCES, type SimEvent } from "../sim";
import type { Bag } from "../../provider/resource/shape";
import { World } from "../support/interruption";

const MARKER = "/etc/pulumi-mke/node.json";

/** Seen on real machines: the network to the helper was cut for 25 s while a worker's create ended, and the create failed. */
describe("a network that is cut after the last stage of an operation", function () {
    this.timeout("5m");
    let world: World;
    const { retryEvery } = DEFAULT_TIMING;
    before(() => void Object.assign(DEFAULT_TIMING, { retryEvery: 200 }));
    after(() => void Object.assign(DEFAULT_TIMING, { retryEvery }));
    afterEach(() => world.close());

    /** Nobody reaches c1 any more, from the moment when the host's mark says that nothing is under way. */
    function cutAtTheEnd(): void {
        const { sim } = world;
        sim.onEvent((event) => {
            if (!isLastMark(event)) return;
            sim.onEvent(undefined);
            queueMicrotask(() => {
                sim.find("c1").firewall({ port: 22 });
                sim.world.disconnect(sim.find("c1"));
            });
        });
    }

    /** The last change of a join. */
    function isLastMark({ kind, host, what, values }: SimEvent): boolean {
        const isWritten = kind === "program" && host === "w1" && what === "write-file" && values?.["FILE"] === MARKER;
        return isWritten && world.sim.find("w1").units.installed !== undefined;
    }

    function assertEnded({ status, nodeName }: Bag): void {
        assert.deepEqual([status, nodeName], ["ready", "w1"]);
        const locks = world.sim.cluster.store.list(RESOURCES.leases).map(({ metadata }) => metadata.name);
        assert.deepEqual(
            locks.filter((name) => name.startsWith("pulumi-mke")),
            [],
        );
    }

    it("does not make it a failed one, nor leaves its lock, where another controller answers", async () => {
        world = await World.start(["c2"]);
        cutAtTheEnd();
        const { outs } = await world.create("w1");
        assertEnded(outs);
        assert.ok(world.sim.events.some(({ what }) => what.startsWith("firewall")));
        world.sim.assertInvariants();
    });

    it("is waited for where there is one controller", async () => {
        world = await World.start([]);
        const { sim } = world;
        cutAtTheEnd();
        const creating = world.create("w1");
        await sim.until("it is cut", () => sim.events.some(({ what }) => what.startsWith("firewall")));
        const cut = sim.now;
        await sim.until("25 s have passed", () => sim.now > cut + 25);
        sim.find("c1").clearFirewall();
        assertEnded((await creating).outs);
    });
});
