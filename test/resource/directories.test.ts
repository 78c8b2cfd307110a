import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { RefusedError } from "../../provider/errors";
import type { Bag } from "../../provider/resource/shape";
import type { SimHost } from "../sim";
import { impatientLocks, World } from "../support/interruption";

/** safety.md 15: the directories of the program are those that a reset empties, whatever k0s runs with. */
describe("a node whose k0s runs with other directories than the program says", function () {
    this.timeout("5m");
    impatientLocks();
    const wrong = { kubeletRootDir: "/srv/data" };
    const mine = "/srv/data/customers.db";
    let world: World;
    let w1: SimHost;

    beforeEach(async () => {
        world = await World.start(["w1"]);
        w1 = world.sim.find("w1");
        w1.files.write(mine, "the user's data");
    });
    afterEach(() => world.close());

    const keepsFiles = (): void => assert.equal(w1.files.text(mine), "the user's data");
    const refused = (what: RegExp) => (error: unknown) =>
        error instanceof RefusedError && error.topic === "directories" && what.test(error.message);
    const right = /kubeletRootDir: "\/var\/lib\/k0s\/kubelet"/;
    const kind = World.kindOf("w1");

    /** As an earlier version adopted it, which compared nothing. */
    async function adopted(more: Bag = {}): Promise<{ id: string; outs: Bag }> {
        const { id, outs } = await world.create("w1");
        return { id, outs: { ...outs, ...more } };
    }

    it("is not adopted, and the error names the right value, with which it is", async () => {
        await assert.rejects(world.create("w1", wrong), refused(right));
        keepsFiles();
        const { outs } = await world.create("w1", { kubeletRootDir: "/var/lib/k0s/kubelet" });
        assert.equal(outs["status"], "ready");
    });

    it("is neither updated nor removed; the value that a refresh found makes an update of it, and it can go", async () => {
        const { id, outs } = await adopted(wrong);
        await assert.rejects(world.update("w1", id, outs, { ...wrong, labels: { a: "b" } }), refused(right));
        await assert.rejects(kind.delete(id, outs), refused(right));
        keepsFiles();
        const refreshed = await world.refresh("w1", { id, outs });
        assert.equal(refreshed["status"], "degraded");
        assert.match(
            JSON.stringify(refreshed["drift"]),
            /kubeletRootDir is \/var\/lib\/k0s\/kubelet, the program says \/srv\/data/,
        );
        const { replaces, changes } = await kind.diff(id, refreshed, await world.checked("w1"));
        assert.deepEqual([replaces, changes], [[], true]);
        const mended = await world.update("w1", id, refreshed);
        assert.deepEqual([mended["status"], mended["directories"]], ["ready", undefined]);
        await kind.delete(id, mended);
        keepsFiles();
        assert.equal(w1.units.installed, undefined);
    });

    it("is removed where its k0s and its service are gone, with what is in the directories looked at", async () => {
        const { id, outs } = await adopted(wrong);
        w1.stopService();
        w1.units.remove("k0sworker");
        w1.files.remove("/usr/local/bin/k0s");
        await assert.rejects(kind.delete(id, outs), refused(/kubeletRootDir holds customers\.db/));
        keepsFiles();
        w1.files.removeTree("/srv/data");
        await kind.delete(id, outs);
        assert.equal(w1.files.isDirectory("/var/lib/k0s"), false);
    });

    it("is not reset over files of others in its own data directory, and is once they are elsewhere", async () => {
        const { id, outs } = await adopted();
        w1.files.write("/var/lib/k0s/customers.db", "the user's data");
        await assert.rejects(kind.delete(id, outs), refused(/\/var\/lib\/k0s holds customers\.db/));
        assert.equal(w1.units.get("k0sworker")?.active, "active");
        w1.files.remove("/var/lib/k0s/customers.db");
        await kind.delete(id, outs);
        assert.equal(w1.units.installed, undefined);
    });
});
