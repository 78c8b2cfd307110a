import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import { RefusedError } from "../../provider/errors";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES, type SimHost } from "../sim";
import { impatientLocks, World } from "../support/interruption";

/** c3 lost its data and started without its token: it serves a cluster of its own, with the same CA (safety.md 2). */
describe("a controller that serves a second cluster of the same CA, and whose sshd forwards no ports", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    let c3: SimHost;

    afterEach(() => world.close());

    async function startSecondCluster(isExpelled: boolean): Promise<{ id: string; outs: Bag }> {
        world = await World.start(["c2", "c3"]);
        const { sim } = world;
        c3 = sim.find("c3");
        const created = await world.create("c3", { backup: { skip: true }, timeouts: { ready: 3 } });
        if (isExpelled) sim.removeMemberFromOutside(BigInt(`0x${String(created.outs["memberId"])}`));
        c3.stopService();
        if (isExpelled) sim.world.act(() => sim.cluster.store.delete(RESOURCES.etcdMembers, "c3"));
        c3.files.removeTree("/var/lib/k0s/etcd/member");
        sim.world.act(() => {
            const args = c3.units.installed?.args.filter((arg) => !arg.startsWith("--token-file")) ?? [];
            c3.units.remove("k0scontroller");
            c3.units.install("k0scontroller", args);
        });
        c3.startService();
        await sim.until("c3 serves", () => sim.world.clusters[1]?.etcd.works === true, 120);
        await world.rest();
        c3.forbidsForwarding = true;
        return created;
    }

    async function refusalOf({ id, outs }: { id: string; outs: Bag }): Promise<RefusedError> {
        const error = await controller.delete(id, outs).then(
            () => undefined,
            (failure: unknown) => failure,
        );
        assert.ok(error instanceof RefusedError, String(error));
        return error;
    }

    function assertUntouched(): void {
        assert.equal(c3.units.installed?.active, "active");
        assert.ok(c3.files.isDirectory("/var/lib/k0s/etcd"));
    }

    /** What the error tells to do. */
    async function stopThere(created: { id: string; outs: Bag }): Promise<void> {
        c3.stopService();
        await controller.delete(created.id, created.outs);
        assert.deepEqual(world.sim.memberNames(), ["c1", "c2"]);
        assert.equal(c3.units.installed, undefined);
        assert.ok(!c3.files.isDirectory("/var/lib/k0s/etcd"));
    }

    it("is not reset, until somebody stops it there", async () => {
        const created = await startSecondCluster(true);
        const error = await refusalOf(created);
        assert.equal(error.topic, "second-cluster");
        assert.match(error.message, /its SSH server forbids port forwarding[^]*systemctl stop k0scontroller/);
        assertUntouched();
        await stopThere(created);
    });

    it("leaves a ghost behind that is taken out, and is not reset either", async () => {
        const created = await startSecondCluster(false);
        const error = await refusalOf(created);
        assert.equal(error.topic, "second-cluster");
        assert.match(error.message, /the machine is left as it is[^]*It is out of the cluster[^]*systemctl stop/);
        assert.deepEqual(world.sim.memberNames(), ["c1", "c2"]);
        assertUntouched();
        await stopThere(created);
    });
});
