import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { closeAll, openHost } from "../../provider/adapters/ssh/pool";
import { Deadline } from "../../provider/deadline";
import { RefusedError } from "../../provider/errors";
import { forgetPermissions } from "../../provider/resource/permissions";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES } from "../sim";
import { impatientLocks, World } from "../support/interruption";
import { newSshKey } from "../support/ssh-key";

const SKIP = { backup: { skip: true } };

describe("a node that lives and cannot be asked", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => {
        forgetPermissions();
        return world.close();
    });
    const more = (name: string, others: Bag = {}): Bag => ({
        ...(name.startsWith("w") ? {} : SKIP),
        // A life is looked at again for a minute.
        timeouts: { ready: 3, connect: 4 },
        ...others,
    });
    const remove = (name: string, { id, outs }: { id: string; outs: Bag }) => World.kindOf(name).delete(id, outs);
    const podOf = (name: string): unknown => world.sim.cluster.store.get(RESOURCES.pods, name, "default");

    /** What becomes of c3 and its pod, in order. */
    function watch(): string[] {
        const seen: string[] = [];
        const { sim } = world;
        sim.onEvent(({ kind, what }) => {
            const lives = sim.cluster.kubelets.get("c3")?.running === true;
            if (kind === "api-write" && what.endsWith("/eviction")) seen.push(`evicted, kubelet lives: ${lives}`);
            if (kind === "api-write" && /^PATCH .*etcdmembers\/c3$/.test(what)) seen.push("asked to leave");
        });
        return seen;
    }

    it("is drained before it leaves etcd, where SSH does not reach it", async () => {
        world = await World.start(["c2", "c3"]);
        const { sim } = world;
        const made = await world.create("c3", more("c3", { onUnreachable: "remove-from-cluster" }));
        sim.addPod("c3", { name: "db-0" });
        sim.find("c3").firewall({ port: 22 });
        closeAll();
        const seen = watch();
        await remove("c3", made);
        assert.deepEqual(seen.slice(0, 2), ["evicted, kubelet lives: true", "asked to leave"]);
        assert.equal(podOf("db-0"), undefined);
        assert.deepEqual(sim.memberNames(), ["c1", "c2"]);
    });

    it("leaves etcd first where its kubelet ends during the drain, and what the drain left is evicted then", async () => {
        world = await World.start(["c2", "c3"]);
        const { sim } = world;
        const made = await world.create("c3", more("c3", { onUnreachable: "remove-from-cluster" }));
        sim.addPod("c3", { name: "db-0", blocked: true });
        sim.find("c3").firewall({ port: 22 });
        closeAll();
        const seen: string[] = [];
        sim.onEvent(({ kind, what }) => {
            if (kind !== "api-write") return;
            if (what.endsWith("/eviction")) {
                seen.push("eviction");
                sim.find("c3").powerOff();
            }
            if (what.endsWith("/etcdmembers/c3")) {
                seen.push("leave");
                sim.world.act(() => sim.cluster.store.delete(RESOURCES.pods, "db-0", "default"));
            }
        });
        await remove("c3", made);
        assert.ok(seen.indexOf("eviction") < seen.indexOf("leave"), seen.join());
        assert.deepEqual(sim.memberNames(), ["c1", "c2"]);
        assert.equal(sim.cluster.store.get(RESOURCES.nodes, "c3"), undefined);
    });

    for (const name of ["w1", "c3"] as const) {
        it(`is not dropped for a new host key: ${name}`, async () => {
            world = await World.start(["c2", name]);
            const { sim } = world;
            const host = sim.find(name);
            const connection = sim.connectionArgs(name);
            const shown = (): Promise<string> =>
                openHost(host.address, {
                    ...connection,
                    perDialTimeout: 5,
                    dialErrorLimit: 1,
                } as never).hostKeyFingerprint(Deadline.afterSeconds(60));
            const made = await world.create(
                name,
                more(name, { connection: { ...connection, hostKey: await shown() } }),
            );
            host.hostKey = newSshKey();
            closeAll();
            const start = sim.events.length;
            await assert.rejects(remove(name, made), (error: Error) => {
                assert.ok(error instanceof RefusedError);
                assert.equal(error.topic, "living-node");
                assert.match(error.message, /different SSH host key than `connection\.hostKey`, and the node is alive/);
                assert.match(error.message, /hostKey is SHA256:.*, the host shows .*SHA256:/);
                return true;
            });
            const kinds = sim.events.slice(start).map(({ kind }) => kind);
            assert.equal(kinds.includes("api-write") || kinds.includes("etcd-write"), false);
            // The way out: the program names the new key, and the removal is one like any other.
            const changed = more(name, { connection: { ...connection, hostKey: await shown() } });
            const outs = await world.update(name, made.id, made.outs, changed);
            await remove(name, { id: made.id, outs });
            assert.equal(host.units.installed, undefined);
        });
    }

    it("goes for a new host key where the program says so, drained first", async () => {
        world = await World.start(["c2", "c3"]);
        const { sim } = world;
        const connection = { ...sim.connectionArgs("c3"), hostKey: "SHA256:" + "A".repeat(43) };
        const made = await world.create("c3", more("c3"));
        sim.addPod("c3", { name: "db-0" });
        const seen = watch();
        closeAll();
        await remove("c3", { id: made.id, outs: { ...made.outs, connection, onUnreachable: "remove-from-cluster" } });
        assert.deepEqual(seen.slice(0, 2), ["evicted, kubelet lives: true", "asked to leave"]);
    });

    for (const name of ["c3", "w1"] as const) {
        it(`is not rebuilt where its address leads to a blank machine now, until the program says so: ${name}`, async () => {
            world = await World.start(["c2", name]);
            const { sim } = world;
            const old = sim.find(name);
            const elastic = old.address.replace(/\d+$/, "99");
            const inputs = more(name, { host: elastic });
            sim.balancer(elastic, [name]);
            const made = await world.create(name, inputs);
            sim.addPod(name, { name: "db-0" });
            const blank = sim.host("n9", { address: old.address.replace(/\d+$/, "98") });
            sim.balancer(elastic, ["n9"]);
            closeAll();
            const outs = await world.refresh(name, made);
            assert.match(
                String(outs["state"]),
                /^the host is another machine than the one in state; the old one is alive: /,
            );
            const start = sim.events.length;
            await assert.rejects(world.update(name, made.id, outs, inputs), (error: Error) => {
                assert.ok(error instanceof RefusedError);
                assert.equal(error.topic, "living-node");
                assert.match(error.message, /the old one is alive: [^]*change `triggers`/);
                return true;
            });
            const kinds = sim.events.slice(start).map(({ kind }) => kind);
            assert.equal(kinds.includes("etcd-write"), false);
            assert.equal(old.units.installed?.active, "active");
            // The way out: `triggers` replaces it, the removal first.
            await remove(name, { id: made.id, outs });
            assert.equal(podOf("db-0"), undefined);
            const again = await world.create(name, inputs);
            assert.equal(again.outs["nodeName"], "n9");
            assert.equal(blank.units.installed?.active, "active");
        });
    }

    it("is rebuilt on the blank machine once it is dead, after a minute at most", async () => {
        world = await World.start(["c2", "w1"]);
        const { sim } = world;
        const elastic = sim.find("w1").address.replace(/\d+$/, "99");
        const inputs = more("w1", { host: elastic, timeouts: { ready: 120, connect: 30 } });
        sim.balancer(elastic, ["w1"]);
        const made = await world.create("w1", inputs);
        sim.host("n9", { address: elastic.replace(/\d+$/, "98") });
        sim.find("w1").powerOff();
        sim.balancer(elastic, ["n9"]);
        closeAll();
        const outs = await world.update("w1", made.id, await world.refresh("w1", made), inputs);
        assert.deepEqual([outs["nodeName"], outs["status"]], ["n9", "ready"]);
    });
});
