import assert from "node:assert/strict";
import { it } from "mocha";
import { MkeWorkerNode } from "pulumi-mke";
import { k0sProgram } from "../sim";
import { describeEngine, type Scene, writesIn } from "./scene";

const NEWER = "v1.37.0+k0s.0";

describeEngine(
    "a cluster that others change",
    (start) => {
        it("is left alone where it was upgraded from outside", async () => {
            const scene = await start(["c2", "c3", "w1"]);
            const { sim, engine, program } = scene;
            settleAll(scene);
            const nodes = program(["c2"], ["w1"], { k0s: { version: "v1.36.3+k0s.2" } });
            await engine.up(nodes);
            for (const { files, units } of sim.hosts) {
                files.write("/usr/local/bin/k0s", k0sProgram(NEWER), 0o755);
                sim.world.act(() => {
                    units.installed?.stop();
                    units.installed?.start();
                });
                await sim.until("its k0s runs again", () => sim.cluster.etcd.works && sim.cluster.daemons.size === 3);
            }
            await settledAgain(scene);
            const began = sim.events.length;
            assert.deepEqual((await engine.up(nodes)).changes, { same: 3 });
            await engine.refresh();
            for (const name of ["c2", "w1"]) {
                const { k0sVersion, drift } = await engine.outputsOf(name);
                assert.deepEqual([k0sVersion, drift], [NEWER, []]);
            }
            assert.deepEqual((await engine.up(nodes)).changes, { same: 3 });
            assert.deepEqual(await engine.refresh(), { same: 3 });
            assert.deepEqual(writesIn(sim, began), []);
        });

        it("is still the same one after a restore, with another etcd cluster id and other member IDs", async () => {
            const scene = await start(["c2", "c3", "w1"]);
            const { sim, engine, program } = scene;
            settleAll(scene);
            const more = { onUnreachable: "remove-from-cluster", timeouts: { connect: 12 } } as const;
            const nodes = program(["c2"], ["w1"], more);
            await engine.up(nodes);
            const before = sim.members().map(({ id }) => id);
            sim.restoreBackup();
            await sim.until("etcd works again", () => sim.cluster.etcd.works && sim.cluster.daemons.size === 3);
            await settledAgain(scene);
            assert.ok(sim.members().every(({ id }) => !before.includes(id)));
            const began = sim.events.length;
            assert.deepEqual((await engine.up(nodes)).changes, { same: 3 });
            await engine.refresh();
            const { memberId, status, drift } = await engine.outputsOf("c2");
            const now = sim
                .members()
                .find(({ name }) => name === "c2")
                ?.id.toString(16);
            assert.deepEqual([memberId, status, drift], [now, "ready", []]);
            assert.deepEqual(await engine.refresh(), { same: 3 });
            assert.deepEqual((await engine.up(nodes)).changes, { same: 3 });
            assert.deepEqual(writesIn(sim, began), []);
            // Without its host, only the ID in state tells which member is meant.
            sim.find("c2").powerOff();
            await sim.until("a leader is there", () => sim.cluster.etcd.leaderId !== undefined);
            await engine.up(program([], ["w1"], more));
            assert.deepEqual(scene.sim.memberNames(), ["c1", "c3"]);
        });
    },
    /etcd had no quorum/,
);

describeEngine("replacing a node on the machine it has", (start) => {
    it("adds a machine that was replaced behind a stable address, as its trigger says", async () => {
        const scene = await start(["c2", "c3", "w1"]);
        const { sim, engine, program } = scene;
        settleAll(scene);
        await engine.up(program(["c2"], [], { triggers: ["instance-1"] }));
        sim.find("c2").wipe();
        const before = sim.members().find(({ name }) => name === "c2")?.id;
        const { changes } = await engine.up(program(["c2"], [], { triggers: ["instance-2"] }));
        assert.deepEqual(changes, { same: 1, replace: 1 });
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2", "c3"]);
        assert.notEqual(sim.members().find(({ name }) => name === "c2")?.id, before);
        assert.equal((await engine.outputsOf("c2"))["status"], "ready");
    });

    it("does not tear down the new owner where only Pulumi wants it replaced", async () => {
        const scene = await start(["c2", "c3", "w1"]);
        const { sim, engine, program } = scene;
        settleAll(scene);
        await engine.up(program(["c2"], ["w1"]));
        const daemons = ["c2", "w1"].map((name) => sim.find(name).units.daemon);
        const tokens = async () =>
            Promise.all(["c2", "w1"].map(async (name) => (await engine.outputsOf(name))["token"]));
        const before = await tokens();
        const replace = await Promise.all(["c2", "w1"].map((name) => engine.urnOf(name)));
        assert.deepEqual((await engine.up(program(["c2"], ["w1"]), { replace })).changes, { same: 1, replace: 2 });
        assert.deepEqual(
            ["c2", "w1"].map((name) => sim.find(name).units.daemon),
            daemons,
        );
        assert.ok((await tokens()).every((token, index) => token !== before[index]));
        assert.deepEqual((await engine.up(program(["c2"], ["w1"]))).changes, { same: 3 });
        assert.deepEqual(await engine.refresh(), { same: 3 });
    });

    it("refuses a resource that was renamed without an alias, and hands the node over where it may take it", async () => {
        const scene = await start(["c2", "c3", "w1"]);
        const { sim, engine, program } = scene;
        settleAll(scene);
        await engine.up(program([], ["w1"]));
        const { daemon } = sim.find("w1").units;
        await assert.rejects(engine.up(renamed(scene, "unmarked")), /organization\/mke\/test\/w1/);
        assert.equal(sim.find("w1").units.daemon, daemon);
        await engine.up(renamed(scene, "takeOver"));
        assert.equal(sim.find("w1").units.daemon, daemon);
        assert.deepEqual(await engine.outputsOf("w1"), {});
        assert.equal((await engine.outputsOf("renamed"))["status"], "ready");
        assert.deepEqual(await engine.refresh(), { same: 2 });
    });
});

function settleAll({ sim }: Scene): void {
    for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
    sim.addSettled("w1", "worker");
}

/** Until its Nodes are past what they go through after a restart. */
async function settledAgain({ sim }: Scene): Promise<void> {
    const end = sim.now + 120;
    await sim.until("the cluster settles", () => sim.now > end);
}

function renamed({ sim }: Scene, adopt: "unmarked" | "takeOver"): () => Promise<void> {
    return () => {
        new MkeWorkerNode("renamed", {
            host: sim.find("w1").address,
            connection: sim.connectionArgs("w1"),
            cluster: { controllers: [{ host: sim.find("c1").address }] },
            adopt,
        });
        return Promise.resolve();
    };
}
