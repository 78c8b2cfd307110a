import assert from "node:assert/strict";
import type { CustomResourceOptions } from "@pulumi/pulumi";
import { it } from "mocha";
import { MkeControllerNode, type MkeControllerNodeArgs, MkeWorkerNode } from "pulumi-mke";
import { RESOURCES } from "../sim";
import { Cloud, leftOn, Machine } from "./machines";
import { describeEngine, type Scene, writesIn, writesOn } from "./scene";

/** Where a removal was skipped on purpose, or the last controller has gone. */
const MEANT_TO_BE = /no quorum|is a ghost/;

describeEngine(
    "a controller whose removal is to be skipped",
    (start) => {
        it("is refused in the preview, and goes with its machine where the whole cluster does", async () => {
            const scene = await start([]);
            const { sim, engine } = scene;
            const cloud = await Cloud.start(sim, "c1");
            try {
                const skipping = (more: Partial<MkeControllerNodeArgs>) => withMachines(scene, cloud, more);
                await assert.rejects(
                    engine.preview(skipping({})),
                    /the controller "c-one" has the option deletedWith, which skips its removal from etcd/,
                );
                const retaining = (): Promise<void> => controllers(scene, ["c1"], { retainOnDelete: true });
                await assert.rejects(engine.preview(retaining), /has the option retainOnDelete/);
                assert.deepEqual(sim.events.filter(({ kind }) => kind === "program").length, 0);

                await engine.up(skipping({ allowSkippedRemoval: true }));
                assert.equal(sim.members().length, 2);
                const began = sim.events.length;
                await engine.destroy();
                assert.deepEqual(writesIn(sim, began), []);
                assert.deepEqual(cloud.ended.map(({ name }) => name).sort(), ["c1", "m2", "m3"]);
                assert.ok(cloud.ended.every(({ left }) => left.length > 0));
                assert.deepEqual(await engine.names(""), []);
            } finally {
                cloud.close();
            }
        });
    },
    MEANT_TO_BE,
);

describeEngine("a worker whose removal is skipped", (start) => {
    it("with its machine leaves a Node behind, which the next join names", async () => {
        const scene = await start(["c2", "w2"]);
        const { sim, engine } = scene;
        sim.addSettled("c2", "controller+worker");
        const cloud = await Cloud.start(sim, "w2");
        try {
            const program = (worker: boolean, others: readonly string[]) => (): Promise<void> => {
                if (worker) workerOn(scene, new Machine("machine", { cloud: cloud.url, image: "one" }));
                return controllers(scene, others);
            };
            await engine.up(program(true, ["c2"]));
            const began = sim.events.length;
            await engine.up(program(false, ["c2"]));
            assert.deepEqual(writesOn(sim, "w2", began), []);
            assert.deepEqual(
                cloud.ended.map(({ name }) => name),
                ["w2"],
            );
            const since = sim.now;
            await sim.until("its Node does not wobble any more", () => sim.now > since + 150, 300);
            assert.deepEqual(await engine.refresh(), { same: 2 });

            sim.host("c3", { address: "10.77.0.14" });
            await assert.rejects(
                engine.up(program(false, ["c2", "c3"])),
                /Node w2 is NotReady.*\n?.*unhealthy-bystander/s,
            );
            assert.deepEqual(writesOn(sim, "c3"), []);
            sim.cluster.store.delete(RESOURCES.nodes, "w2");
            await engine.up(program(false, ["c2", "c3"]));
            assert.deepEqual(scene.sim.memberNames(), ["c1", "c2", "c3"]);
        } finally {
            cloud.close();
        }
    });

    it("with retainOnDelete stays as it is, and is taken on again by the same line", async () => {
        const scene = await start(["w1"]);
        const { sim, engine } = scene;
        const program = (): Promise<void> => {
            workerOn(scene, "w1", { retainOnDelete: true });
            return Promise.resolve();
        };
        await engine.up(program);
        const began = sim.events.length;
        await engine.up(() => Promise.resolve());
        assert.deepEqual(writesIn(sim, began), []);
        assert.equal(sim.find("w1").units.installed?.active, "active");
        await engine.up(program);
        assert.deepEqual(writesOn(sim, "w1", began), ["w1: write-file"]);
        await engine.destroy();
        assert.equal(sim.find("w1").units.installed?.active, "active");
    });
});

describeEngine("a protected node", (start) => {
    it("is not removed by destroy, nor by leaving it out, until it is not protected any more", async () => {
        const scene = await start(["c2", "w1"]);
        const { sim, engine } = scene;
        for (const [name, role] of [
            ["c2", "controller+worker"],
            ["w1", "worker"],
        ] as const)
            sim.addSettled(name, role);
        const program = (protect: boolean) => (): Promise<void> => {
            workerOn(scene, "w1", { protect });
            return controllers(scene, ["c2"], { protect });
        };
        await engine.up(program(true));
        const began = sim.events.length;
        await assert.rejects(engine.destroy(), /protected/);
        await assert.rejects(
            engine.up(() => Promise.resolve()),
            /protected/,
        );
        assert.deepEqual(writesIn(sim, began), []);
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
        await engine.up(program(false));
        assert.deepEqual(writesIn(sim, began), []);
        await engine.destroy();
        for (const name of ["c2", "w1"]) assert.deepEqual(leftOn(sim.find(name)), []);
    });
});

function argsIn(
    { sim }: Scene,
    connection: string,
): Pick<MkeControllerNodeArgs, "cluster" | "connection" | "preflight"> {
    return {
        connection: sim.connectionArgs(connection),
        cluster: { controllers: [{ host: sim.find("c1").address, connection: sim.connectionArgs("c1") }] },
        preflight: { os: false, minDiskMiB: false },
    };
}

function controllers(scene: Scene, names: readonly string[], options: CustomResourceOptions = {}): Promise<void> {
    for (const name of names) {
        new MkeControllerNode(name, { ...argsIn(scene, name), host: scene.sim.find(name).address }, options);
    }
    return Promise.resolve();
}

/** A worker on that host, or on that machine and gone with it. */
function workerOn(scene: Scene, on: string | Machine, options: CustomResourceOptions = {}): void {
    if (typeof on === "string") {
        new MkeWorkerNode(on, { ...argsIn(scene, on), host: scene.sim.find(on).address }, options);
    } else {
        new MkeWorkerNode("worker", { ...argsIn(scene, "c1"), host: on.address }, { ...options, deletedWith: on });
    }
}

/** Two controllers and a worker, each gone with its machine. */
function withMachines(scene: Scene, cloud: Cloud, more: Partial<MkeControllerNodeArgs>): () => Promise<void> {
    return () => {
        const args = argsIn(scene, "c1");
        const machine = (name: string, after: readonly Machine[]): Machine =>
            new Machine(name, { cloud: cloud.url, image: "one" }, { dependsOn: [...after] });
        const one = machine("one", []);
        const two = machine("two", [one]);
        for (const [name, on] of [
            ["one", one],
            ["two", two],
        ] as const) {
            new MkeControllerNode(`c-${name}`, { ...args, ...more, host: on.address }, { deletedWith: on });
        }
        workerOn(scene, machine("three", [two]));
        return Promise.resolve();
    };
}
