import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { RefusedError } from "../../provider/errors";
import { RESOURCES } from "../sim";
import { isReady } from "../sim/k0s/kubelet";
import { impatientLocks, World } from "../support/interruption";

describe("a machine that was renamed", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());
    const isNodeReady = (): boolean => isReady(world.sim.cluster.store.get(RESOURCES.nodes, "w1")?.status);

    it("says so at once, and is mended by its old name", async () => {
        world = await World.start(["w1"]);
        const { sim } = world;
        const made = await world.create("w1");
        const host = sim.find("w1");
        const restart = (): void => {
            host.stopService();
            host.startService();
        };
        host.hostName = "Gitea-7";
        restart();
        await sim.until("the Node is NotReady", () => !isNodeReady());
        const outs = await world.refresh("w1", made);
        assert.match(String(outs["state"]), /^the machine is called gitea-7 now, and its Node is w1/);
        await assert.rejects(world.update("w1", made.id, outs), (error: Error) => {
            assert.ok(error instanceof RefusedError);
            assert.match(error.message, /called gitea-7 now[^]*`hostnamectl set-hostname w1`[^]*#renamed-machine/);
            return true;
        });
        // The way out.
        host.hostName = "w1";
        restart();
        await sim.until("the Node is Ready", isNodeReady);
        assert.equal((await world.update("w1", made.id, outs))["status"], "ready");
    });
});
