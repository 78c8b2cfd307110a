import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES } from "../sim";
import { impatientLocks, killed, Watch, World } from "../support/interruption";

describe("a dead controller's removal that was killed, and another operation on the control plane after it", function () {
    this.timeout("10m");
    impatientLocks();
    let world: World;

    afterEach(() => world.close());

    it("is finished all the same, although nothing but its record explains what is left", async () => {
        world = await World.start(["c2"]);
        const { sim } = world;
        sim.addSettled("c3", "controller");
        const gone: Bag = { role: "controller", onUnreachable: "remove-from-cluster", timeouts: { connect: 4 } };
        const { id, outs } = await world.create("c3", gone);
        sim.find("c3").powerOff();
        const watch = new Watch(sim, { what: "etcd-write c1 MemberRemove ID", nth: 1 });
        await killed(world, () => controller.delete(id, outs));
        assert.ok(watch.hasKilled);
        await world.rest();
        const { annotations = {} } = sim.cluster.store.get(RESOURCES.etcdMembers, "c3")?.metadata ?? {};
        assert.equal(annotations["pulumi-mke/leave-member-id"], outs["memberId"]);
        sim.host("c4", { address: sim.find("c3").address.replace(/\d+$/, "14") });
        const controllers = ["c1", "c2"].map((name) => ({
            host: sim.find(name).address,
            connection: sim.connectionArgs(name),
        }));
        await world.create("c4", { cluster: { controllers } });
        await controller.delete(id, outs);
        assert.deepEqual(sim.memberNames(), ["c1", "c2", "c4"]);
        assert.equal(sim.cluster.store.get(RESOURCES.etcdMembers, "c3"), undefined);
        const leases = sim.cluster.store.list(RESOURCES.leases).map(({ metadata }) => metadata.name);
        assert.ok(!leases.includes("pulumi-mke-control-plane"), "what is finished is not kept");
    });
});
