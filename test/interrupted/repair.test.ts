import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller, worker } from "../../provider";
import { RESOURCES, type SimEvent } from "../sim";
import { LOOKING } from "../support/looking";
import { impatientLocks, killed, stagesOf, Watch, World } from "../support/interruption";

describe("a node in state", function () {
    this.timeout("10m");
    impatientLocks();
    let world: World;

    afterEach(() => world.close());

    const changes = (): SimEvent[] =>
        world.sim.events.filter(
            ({ kind, what }) =>
                ["api-write", "etcd-write", "stream"].includes(kind) || (kind === "program" && !LOOKING.has(what)),
        );

    for (const name of ["c2", "w1"]) {
        it(`that joined before anybody told us (${name}) is adopted: nothing is written but our marks`, async () => {
            world = await World.start([name]);
            const stages = await stagesOf(async () => world.create(name));
            assert.deepEqual(stages, ["marking the node"]);
            const written = changes().filter(({ what }) => !what.includes("/leases"));
            assert.deepEqual(
                written.map(({ kind, what, values }) => `${kind} ${what} ${values?.["FILE"] ?? ""}`.trim()),
                ["program write-file /etc/pulumi-mke/node.json", `api-write PATCH /api/v1/nodes/${name}`],
            );
        });

        it(`that is as it should be (${name}) is not touched by a refresh, and needs no update`, async () => {
            world = await World.start([name]);
            const made = await world.create(name);
            const before = changes();
            const outs = await world.refresh(name, made);
            assert.deepEqual(outs, made.outs);
            const kind = name === "w1" ? worker : controller;
            assert.equal((await kind.diff(made.id, outs, await world.checked(name))).changes, false);
            assert.deepEqual(changes(), before);
        });
    }

    it("that a killed removal left cordoned is un-cordoned, if it is to stay after all", async () => {
        world = await World.start(["w1"]);
        const made = await world.create("w1");
        new Watch(world.sim, { what: "api-write c1 PATCH /api/v1/nodes/w1", nth: 1 });
        await killed(world, () => worker.delete(made.id, made.outs));
        assert.equal(isCordoned(), true);
        const outs = await world.refresh("w1", made);
        assert.deepEqual(outs["drift"], [
            "an earlier operation of ours on it (remove) was interrupted",
            "Node w1 is still cordoned by an operation of ours that was interrupted",
        ]);
        const found = await world.update("w1", made.id, outs);
        assert.equal(isCordoned(), false);
        // Reads of the same seconds share one view of the cluster.
        await world.rest();
        assert.deepEqual((await world.refresh("w1", { id: made.id, outs: found }))["drift"], []);
    });

    it("that somebody else cordoned stays cordoned, which is no drift", async () => {
        world = await World.start(["w1"]);
        const made = await world.create("w1");
        world.sim.world.act(() =>
            world.sim.cluster.store.update(RESOURCES.nodes, "w1", (node) => (node.spec = { unschedulable: true })),
        );
        assert.deepEqual((await world.refresh("w1", made))["drift"], []);
        await world.update("w1", made.id, made.outs, { labels: { zone: "a" } });
        assert.equal(isCordoned(), true);
    });

    it("whose join was killed while its member had no name yet, and whose k0s died with it, joins", async () => {
        world = await World.start([]);
        const { sim } = world;
        const host = sim.find("c2");
        const moment = { what: "etcd  ID, unstarted, , https://10.77.0.12:2380, true", nth: 1 };
        new Watch(sim, moment, () => {
            host.stopService();
            host.files.removeTree("/var/lib/k0s/etcd");
        });
        await killed(world, async () => world.create("c2"));
        assert.deepEqual(sim.memberNames(), ["", "c1"]);
        await world.create("c2");
        assert.deepEqual(sim.memberNames(), ["c1", "c2"]);
        await world.rest();
        sim.assertInvariants(/not a pulumi-mke program/);
    });

    it("whose join failed half-way is finished by an update of what the create left in state", async () => {
        world = await World.start([]);
        new Watch(world.sim, { what: "program c2 service start", nth: 1 });
        const error = (await killed(world, async () => world.create("c2"))) as { id: string; properties: object };
        const found = await world.update("c2", error.id, { ...error.properties });
        assert.equal(found["status"], "ready");
        await world.rest();
        world.sim.assertInvariants(/not a pulumi-mke program/);
    });

    function isCordoned(): boolean {
        return world.sim.cluster.store.get(RESOURCES.nodes, "w1")?.spec?.["unschedulable"] === true;
    }
});
