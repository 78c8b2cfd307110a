import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { MkeControllerNode } from "pulumi-mke";
import { RESOURCES } from "../sim";
import { findPulumi } from "../support/find-pulumi";
import { resetByHand, type Scene, startScene, TIME_LIMIT, writesIn } from "./scene";
import { newSshKey } from "../support/ssh-key";

const pulumi = findPulumi();
if (pulumi === undefined) {
    console.log("engine tests: left out, there is no Pulumi CLI on PATH or in ~/.pulumi");
} else {
    describe("pulumi up on a simulated cluster", function () {
        this.timeout(TIME_LIMIT);
        let scene: Scene;

        const start = async (...blank: string[]): Promise<Scene> => (scene = await startScene(pulumi, blank));

        afterEach(async () => {
            scene.sim.assertInvariants();
            await scene.close();
        });

        it("joins a controller and a worker, changes nothing when run again, and takes both out again", async () => {
            const { sim, engine, program } = await start("c2", "w1");
            await engine.up(program(["c2"], ["w1"]));
            assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
            assert.deepEqual((await engine.up(program(["c2"], ["w1"]))).changes, { same: 3 });
            assert.deepEqual(await engine.refresh(), { same: 3 });
            await engine.up(program([], []));
            assert.deepEqual(scene.sim.memberNames(), ["c1"]);
            for (const name of ["c2", "w1"]) assert.equal(sim.find(name).units.installed, undefined);
        });

        it("shows on refresh that a service was stopped, once, and starts it on the next up", async () => {
            const { sim, engine, program } = await start("w1");
            await engine.up(program([], ["w1"]));
            sim.find("w1").stopService();
            assert.deepEqual(await engine.refresh(), { same: 1, update: 1 });
            assert.deepEqual((await engine.outputsOf("w1"))["drift"], ["k0sworker is not running"]);
            const found = await engine.outputsOf("w1");
            await engine.refresh();
            assert.deepEqual(await engine.outputsOf("w1"), found);
            await engine.up(program([], ["w1"]));
            assert.equal(sim.find("w1").units.installed?.active, "active");
            assert.deepEqual((await engine.outputsOf("w1"))["drift"], []);
        });

        it("keeps a host that does not answer in state, and drops one that is gone from host and cluster", async () => {
            const { sim, engine, program } = await start("w1", "w2");
            await engine.up(program([], ["w1", "w2"], { timeouts: { connect: 12 } }));
            sim.find("w1").powerOff();
            resetByHand(scene, "w2");
            sim.world.act(() => sim.cluster.store.delete(RESOURCES.nodes, "w2"));
            await engine.refresh();
            assert.equal((await engine.outputsOf("w1"))["status"], "unreachable");
            assert.deepEqual(await engine.outputsOf("w2"), {});
        });

        it("adopts a node that is there already, and writes nothing but its marks", async () => {
            const { sim, engine, program } = await start("w1");
            sim.addSettled("w1", "worker");
            await engine.up(program([], ["w1"]));
            assert.deepEqual(writesIn(sim), ["w1: write-file"]);
            assert.equal((await engine.outputsOf("w1"))["status"], "ready");
        });

        it("keeps a half-made node in state and finishes it on the next up", async () => {
            const { sim, engine, program } = await start("w1");
            sim.find("w1").failing.set("install-service", "no space left on device");
            await assert.rejects(engine.up(program([], ["w1"])), /no space left on device/);
            assert.equal((await engine.outputsOf("w1"))["status"], "joining");
            sim.find("w1").failing.clear();
            await engine.up(program([], ["w1"]));
            assert.equal((await engine.outputsOf("w1"))["status"], "ready");
            assert.equal(sim.find("w1").units.installed?.active, "active");
        });

        it("replaces controllers whose machines move: all join before any leaves", async () => {
            const { sim, engine } = await start("c2", "n1", "n2");
            await engine.up(named(scene, { one: "c1", two: "c2" }));
            assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
            await engine.up(named(scene, { one: "n1", two: "n2" }));
            assert.deepEqual(scene.sim.memberNames(), ["n1", "n2"]);
            const sizes = sim.events.filter(({ kind }) => kind === "etcd").length;
            assert.ok(sizes > 0);
            for (const name of ["c1", "c2"]) assert.equal(sim.find(name).units.installed, undefined);
        });

        it("leaves no key or token in state, output or errors", async () => {
            const { sim, engine, program } = await start("c2");
            await engine.up(program(["c2"]));
            const key = sim.privateKey.split("\n")[2] ?? "";
            const state = await engine.stateFiles();
            assert.ok(key.length > 20);
            assert.ok(!state.includes(key), "the private key is in the state file");
            assert.ok(!engine.output.join("").includes(key), "the private key is in the output");
        });
    });

    describe("bad input, before anything is touched", function () {
        this.timeout(TIME_LIMIT);
        let scene: Scene;

        beforeEach(async () => {
            scene = await startScene(pulumi, ["c2", "w1"]);
        });

        afterEach(async () => {
            assert.deepEqual(writesIn(scene.sim), []);
            await scene.close();
        });

        it("names an unknown field", async () => {
            const { engine, program } = scene;
            const typo = { lables: { zone: "a" } } as object;
            await assert.rejects(engine.up(program([], ["w1"], typo)), /lables/);
        });

        it("says that no controller can be reached", async () => {
            const { sim, engine, program } = scene;
            sim.find("c1").powerOff();
            await assert.rejects(
                engine.up(program([], ["w1"])),
                /none of the controllers can be used[^]*10\.77\.0\.11/,
            );
        });

        it("says that a login is refused", async () => {
            const { sim, engine, program } = scene;
            const wrong = { ...sim.connectionArgs("w1"), privateKey: newSshKey() };
            await assert.rejects(
                engine.up(program([], ["w1"], { connection: wrong })),
                /10\.77\.0\.13: the host does not let root in/,
            );
        });

        it("says that the host key is another one", async () => {
            const { sim, engine, program } = scene;
            const pinned = {
                ...sim.connectionArgs("w1"),
                hostKey: "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            };
            await assert.rejects(engine.up(program([], ["w1"], { connection: pinned })), /host key/);
        });

        it("finds two resources with one host in the program", async () => {
            const { sim, engine } = scene;
            const args = {
                host: "10.77.0.12",
                connection: sim.connectionArgs("c2"),
                cluster: { controllers: [{ host: "10.77.0.11" }] },
            };
            const twice = (): Promise<void> => {
                new MkeControllerNode("one", args);
                new MkeControllerNode("two", args);
                return Promise.resolve();
            };
            await assert.rejects(engine.preview(twice), /the resources "one" and "two" have the same host/);
        });

        it("says that no controller is left that could help", async () => {
            const { sim, engine, program } = scene;
            const alone = { controllers: [{ host: "10.77.0.13", connection: sim.connectionArgs("w1") }] };
            await assert.rejects(
                engine.up(program([], ["w1"], { cluster: alone })),
                /The first controller must exist: make it with k0sctl or mkectl/,
            );
        });
    });
}

/** Controllers by resource name, so that a machine can change behind one. */
function named({ sim }: Scene, machines: Readonly<Record<string, string>>): () => Promise<void> {
    return () => {
        const controllers = Object.values(machines).map((name) => ({
            host: sim.find(name).address,
            connection: sim.connectionArgs(name),
        }));
        for (const [resource, machine] of Object.entries(machines)) {
            new MkeControllerNode(resource, {
                host: sim.find(machine).address,
                connection: sim.connectionArgs(machine),
                cluster: { controllers },
                preflight: { os: false, minDiskMiB: false },
            });
        }
        return Promise.resolve();
    };
}
