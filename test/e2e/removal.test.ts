import assert from "node:assert/strict";
import { it } from "mocha";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import { MkeControllerNode, type MkeControllerNodeArgs } from "pulumi-mke";
import { RESOURCES } from "../sim";
import { leftOn } from "./machines";
import { describeEngine, type Scene, writesIn } from "./scene";

describeEngine("controllers removed from the program", (start) => {
    it("go from five to three in one up, then to two, then to one, whoever leads", async () => {
        const scene = await start(["c2", "c3", "c4", "c5"]);
        settle(scene, ["c2", "c3", "c4", "c5"]);
        let left = ["c1", "c2", "c3", "c4", "c5"];
        await scene.engine.up(controllers(scene, left));
        // The first in the list leads in the beginning. What is in the list later has gone in part.
        const list = left.slice(2);
        for (const count of [2, 1, 1]) {
            const leader = leaderOf(scene);
            const gone = [leader, ...left.filter((name) => name !== leader)].slice(0, count);
            left = left.filter((name) => !gone.includes(name));
            const seen = watch(scene);
            await scene.engine.up(controllers(scene, left, list));
            assert.deepEqual(seen.voters, count === 2 ? [4, 3] : [left.length]);
            assert.ok(!seen.elections, "etcd was without a leader");
            assert.deepEqual(scene.sim.memberNames(), left);
            for (const name of gone) assert.deepEqual(tracesOf(scene, name), []);
            assert.deepEqual((await scene.engine.up(controllers(scene, left, list))).changes, {
                same: left.length + 1,
            });
        }
    });

    it("are exchanged for others in one up: the new one joins first", async () => {
        const scene = await start(["c2", "c3", "c4"]);
        settle(scene, ["c2", "c3"]);
        await scene.engine.up(controllers(scene, ["c1", "c2", "c3"]));
        const seen = watch(scene);
        await scene.engine.up(controllers(scene, ["c4", "c2", "c3"]));
        assert.deepEqual(seen, { voters: [4, 3], elections: false });
        assert.deepEqual(scene.sim.memberNames(), ["c2", "c3", "c4"]);
        assert.deepEqual(tracesOf(scene, "c1"), []);
        assert.deepEqual((await scene.engine.up(controllers(scene, ["c4", "c2", "c3"]))).changes, { same: 4 });
    });

    it("stay as they are while quorum hangs on them, and go once the other one is back", async () => {
        const scene = await start(["c2", "c3"]);
        const { sim, engine } = scene;
        settle(scene, ["c2", "c3"]);
        const all = ["c1", "c2", "c3"];
        await engine.up(controllers(scene, all));
        sim.find("c2").powerOff();
        const began = sim.events.length;
        await assert.rejects(
            engine.up(controllers(scene, ["c1", "c2"], all)),
            /c3 .*cannot be removed: 2 of 3 voting members are healthy: without this one etcd would lose its quorum/,
        );
        assert.deepEqual(writesIn(sim, began), []);
        assert.deepEqual(apiWrites(scene, began), []);
        sim.find("c2").powerOn();
        await backAgain(scene);
        await engine.up(controllers(scene, ["c1", "c2"], all));
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
        assert.deepEqual(tracesOf(scene, "c3"), []);
    });
});

describeEngine("a controller's own list of controllers", (start) => {
    const onlyOne = async (list: readonly string[]): Promise<Scene> => {
        const scene = await start(["c2", "c3"]);
        settle(scene, ["c2", "c3"]);
        await scene.engine.up(controllers(scene, ["c3"], list));
        return scene;
    };

    it("may name itself and one other", async () => {
        const scene = await onlyOne(["c3", "c2"]);
        await scene.engine.up(controllers(scene, []));
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
        assert.deepEqual(tracesOf(scene, "c3"), []);
    });

    it("may name another that nobody can log in to: those that the cluster names help", async () => {
        const scene = await onlyOne(["c3", "c2"]);
        scene.sim.find("c2").firewall({ port: 22 });
        await scene.engine.up(controllers(scene, []));
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
        assert.deepEqual(tracesOf(scene, "c3"), []);
    });

    it("may name another that is down, which stops the removal all the same while its member is not healthy", async () => {
        const scene = await start(["c2", "c3", "c4", "c5"]);
        const { sim, engine } = scene;
        settle(scene, ["c2", "c3", "c4", "c5"]);
        await engine.up(controllers(scene, ["c5"], ["c5", "c2"], { timeouts: { ready: 30, connect: 30 } }));
        sim.find("c2").powerOff();
        const began = sim.events.length;
        await assert.rejects(
            engine.up(controllers(scene, [])),
            /etcd member c2 at 10\.77\.0\.12 \(\w+\) is not healthy[^]*Nothing was changed\. Repair this first/,
        );
        assert.deepEqual(writesIn(sim, began), []);
        assert.deepEqual(
            apiWrites(scene, began).filter((write) => !write.includes("/leases")),
            [],
        );
        sim.find("c2").powerOn();
        await backAgain(scene);
    });

    it("must lead to one of the others: nothing is touched before", async () => {
        const scene = await onlyOne(["c3"]);
        const { sim, engine } = scene;
        for (const name of ["c1", "c2"]) sim.find(name).firewall({ port: 22 });
        const began = sim.events.length;
        await assert.rejects(engine.up(controllers(scene, [])), (error: Error) => {
            assert.match(error.message, /none of the controllers can be used/);
            assert.match(error.message, /10\.77\.0\.13: it is the node that is worked on/);
            assert.match(error.message, /Name a running controller of this cluster in `cluster\.controllers`/);
            return true;
        });
        assert.deepEqual(writesIn(sim, began), []);
        assert.deepEqual(apiWrites(scene, began), []);
        for (const name of ["c1", "c2"]) sim.find(name).clearFirewall();
        await engine.up(controllers(scene, []));
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
    });
});

/** These machines as controllers, each with the same list; default: all of them, in this order. */
function controllers(
    { sim }: Scene,
    names: readonly string[],
    list = names,
    more: Partial<MkeControllerNodeArgs> = {},
): PulumiFn {
    const addressOf = (name: string) => ({ host: sim.find(name).address, connection: sim.connectionArgs(name) });
    return () => {
        for (const name of names) {
            new MkeControllerNode(name, {
                ...addressOf(name),
                cluster: { controllers: list.map(addressOf) },
                preflight: { os: false, minDiskMiB: false },
                ...more,
            });
        }
        return Promise.resolve();
    };
}

function settle({ sim }: Scene, names: readonly string[]): void {
    for (const name of names) sim.addSettled(name, "controller+worker");
}

function backAgain({ sim }: Scene): Promise<void> {
    const { etcd } = sim.cluster;
    return sim.until("all members are back", () => etcd.voters.every(({ id }) => etcd.isAlive(id)));
}

function leaderOf({ sim }: Scene): string {
    const { etcd } = sim.cluster;
    return etcd.members.find(({ id }) => id === etcd.leaderId)?.name ?? "";
}

/** From now on: how many voters there are after each change, and whether etcd ever had to find a leader by itself. */
function watch({ sim }: Scene): { readonly voters: number[]; elections: boolean } {
    const seen = { voters: [] as number[], elections: false };
    let last = sim.cluster.etcd.voters.length;
    sim.onEvent(({ kind, what }) => {
        const { length } = sim.cluster.etcd.voters;
        if (length !== last) seen.voters.push(length);
        last = length;
        if (kind === "leader" && what === "etcd has no leader") seen.elections = true;
    });
    return seen;
}

/** What is left of a node in its cluster and on its machine. */
function tracesOf({ sim }: Scene, name: string): string[] {
    const { store } = sim.cluster;
    const objects = [RESOURCES.nodes, RESOURCES.etcdMembers, RESOURCES.controlNodes].filter(
        (resource) => store.get(resource, name) !== undefined,
    );
    const leases = store
        .list(RESOURCES.leases)
        .filter(
            ({ metadata, spec }) => metadata.name.endsWith(name) || isHeld(spec?.["holderIdentity"], metadata.name),
        );
    return [
        ...sim.memberNames().filter((member) => member === name),
        ...objects.map(({ kind }) => kind),
        ...leases.map(({ metadata }) => `Lease ${metadata.name}`),
        ...leftOn(sim.find(name)),
    ];
}

/** Our locks stay, and nobody holds them. */
function isHeld(holder: unknown, lease: string): boolean {
    return lease.startsWith("pulumi-mke") && holder !== undefined && holder !== "";
}

function apiWrites({ sim }: Scene, since: number): string[] {
    return sim.events
        .slice(since)
        .filter(({ kind }) => kind === "api-write" || kind === "etcd-write")
        .map(({ what }) => what);
}
