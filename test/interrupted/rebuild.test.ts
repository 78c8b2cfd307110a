import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { fingerprintOf } from "../../provider/adapters/ssh/host-key";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { RESOURCES } from "../sim";
import { parseKey } from "../sim/servers/ssh-server";
import { LOOKING } from "../support/looking";
import { linesOf, World } from "../support/interruption";

const OTHER_MACHINE = "the host is another machine than the one in state";

describe("a node that was lost behind our back", function () {
    this.timeout("10m");
    let world: World;

    const start = async (...settled: string[]): Promise<World> => (world = await World.start(settled));

    afterEach(() => world.close());

    const idOf = (name: string) => world.sim.members().find((member) => member.name === name)?.id;

    it("joins again on a new blank machine, with another host key, as a new member of the same cluster", async () => {
        await start("c2", "c3");
        // The dead one is none of the three that the program wants to keep.
        const cluster = { ...(world.inputs("c3")["cluster"] as object), minControllers: 3 };
        const made = await world.create("c3", { cluster });
        const before = idOf("c3");
        world.sim.find("c3").wipe();
        await world.rest();
        const outs = await world.refresh("c3", made);
        assert.deepEqual(outs["drift"], [OTHER_MACHINE]);
        assert.deepEqual(await world.refresh("c3", { id: made.id, outs }), outs);

        let found = outs;
        const lines = await linesOf(async () => (found = await world.update("c3", made.id, outs, { cluster })));
        assert.ok(
            lines.some((line) => line.endsWith(`: rebuild: ${OTHER_MACHINE}`)),
            lines.join("\n"),
        );
        assert.equal(found["status"], "ready");
        assert.equal(found["machineId"], world.sim.find("c3").machineId);
        assert.equal(found["memberId"], idOf("c3")?.toString(16));
        assert.notEqual(idOf("c3"), before);
        assert.equal(world.sim.members().length, 3);
        world.sim.assertInvariants();
        const after = await world.refresh("c3", { id: made.id, outs: found });
        assert.deepEqual(after["drift"], []);
    });

    it("may come back under another name", async () => {
        await start("c2", "c3", "w1");
        for (const [name, later] of [
            ["c3", "n3"],
            ["w1", "n4"],
        ] as const) {
            const made = await world.create(name);
            const host = world.sim.find(name);
            host.wipe();
            host.hostName = later;
            await world.rest();
            const outs = await world.refresh(name, made);
            const found = await world.update(name, made.id, outs);
            assert.equal(found["nodeName"], later);
        }
        const nodes = world.sim.cluster.store.list(RESOURCES.nodes).map(({ metadata }) => metadata.name);
        assert.deepEqual(nodes.sort(), ["c1", "c2", "n3", "n4"]);
        assert.deepEqual(world.sim.memberNames(), ["c1", "c2", "n3"]);
        world.sim.assertInvariants();
    });

    it("joins again on the machine it was reset on by hand: its dead member goes first", async () => {
        await start("c2", "c3");
        const made = await world.create("c3");
        const host = world.sim.find("c3");
        host.stopService();
        world.sim.world.act(() => {
            host.units.remove("k0scontroller");
            for (const directory of ["/var/lib/k0s", "/etc/k0s", "/etc/pulumi-mke"]) host.files.removeTree(directory);
        });
        await world.rest();
        const outs = await world.refresh("c3", made);
        assert.deepEqual(outs["drift"], ["k0s is not installed as a service"]);
        await world.update("c3", made.id, outs);
        assert.equal(world.sim.members().length, 3);
        world.sim.assertInvariants();
    });

    it("joins again where etcd does not know it any more, although its k0s still runs", async () => {
        await start("c2", "c3");
        const made = await world.create("c3");
        world.sim.removeMemberFromOutside(idOf("c3") ?? 0n);
        await world.rest();
        world.sim.world.act(() => world.sim.cluster.store.delete(RESOURCES.etcdMembers, "c3"));
        const outs = await world.refresh("c3", made);
        assert.deepEqual(outs["drift"], ["etcd does not list it as a member"]);
        await world.update("c3", made.id, outs);
        assert.equal(world.sim.members().length, 3);
        world.sim.assertInvariants();
    });

    describe("is left as it is, with nothing changed,", () => {
        let writes: () => string[];

        beforeEach(() => {
            writes = () =>
                world.sim.events
                    .filter(({ kind, what }) => kind === "etcd-write" || (kind === "program" && !LOOKING.has(what)))
                    .map(({ host, what }) => `${host ?? ""}: ${what}`);
        });

        it("where somebody else removed it from etcd and the objects disagree", async () => {
            await start("c2", "c3");
            const made = await world.create("c3");
            world.sim.removeMemberFromOutside(idOf("c3") ?? 0n);
            await world.rest();
            const outs = await world.refresh("c3", made);
            const before = writes();
            await assert.rejects(world.update("c3", made.id, outs), /runbook\.md#removed-out-of-band/);
            assert.deepEqual(writes(), before);
        });

        it("where the program still pins the old machine's host key, and says which input to change", async () => {
            await start("c2", "c3");
            const pinned = { connection: { ...world.sim.connectionArgs("c3"), hostKey: keyOf("c3") } };
            const made = await world.create("c3", pinned);
            world.sim.find("c3").wipe();
            await world.rest();
            closeAll();
            const outs = await world.refresh("c3", made);
            const before = writes();
            await assert.rejects(
                world.update("c3", made.id, outs, pinned),
                /set `connection\.hostKey` of this resource/,
            );
            assert.deepEqual(writes(), before);
            const found = await world.update("c3", made.id, outs);
            assert.equal(found["status"], "ready");
        });

        it("where the rest of the cluster is not healthy enough to add it again", async () => {
            await start("c2", "c3");
            const made = await world.create("c3");
            world.sim.find("c3").wipe();
            await world.rest();
            const outs = await world.refresh("c3", made);
            const before = writes();
            world.sim.find("c2").powerOff();
            await assert.rejects(world.update("c3", made.id, outs));
            assert.deepEqual(writes(), before);
            assert.equal(world.sim.members().length, 3);
        });

        it("where the new machine is not blank", async () => {
            await start("c2", "c3", "w1");
            const made = await world.create("w1");
            const host = world.sim.find("w1");
            host.wipe();
            host.files.write("/usr/local/bin/k0s", "#!k0s", 0o755);
            host.units.install("k0sworker", ["/usr/local/bin/k0s", "worker"]);
            await world.rest();
            const outs = await world.refresh("w1", made);
            const before = writes();
            await assert.rejects(world.update("w1", made.id, outs), /another machine/);
            assert.deepEqual(writes(), before);
        });
    });

    /** As `ssh-keygen -l` shows the host key. */
    function keyOf(name: string): string {
        return fingerprintOf(parseKey(world.sim.find(name).hostKey).getPublicSSH());
    }
});
