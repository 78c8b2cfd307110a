import assert from "node:assert/strict";
import { it } from "mocha";
import type { ControllerAddressArgs } from "pulumi-mke";
import { skipWithout } from "../support/real-parts";
import { TestAgent, withEnvironment } from "../support/ssh-agent";
import { RESOURCES } from "../sim";
import { leftOn } from "./machines";
import { describeEngine, type Scene } from "./scene";

describeEngine("a key that was rotated", (start) => {
    it("is taken from the environment by refresh and destroy at once, and is not stored", async () => {
        const scene = await start(["c2", "w1"]);
        const { sim, engine, program } = scene;
        settleAll(scene);
        await engine.up(program(["c2"], ["w1"]));
        sim.rotateKey();
        await withEnvironment({ PULUMI_MKE_PRIVATE_KEY: sim.privateKey }, async () => {
            assert.deepEqual(await engine.refresh(), { same: 3 });
            await engine.destroy();
        });
        assert.deepEqual(scene.sim.memberNames(), ["c1"]);
        for (const name of ["c2", "w1"]) assert.deepEqual(leftOn(sim.find(name)), []);
        const line = sim.privateKey.split("\n")[2] ?? "";
        assert.ok(line.length > 20);
        assert.ok(!(await engine.stateFiles()).includes(line), "the key is in the state file");
        assert.ok(!engine.output.join("").includes(line), "the key is in the output");
    });

    it("is taken from the SSH agent by refresh and destroy at once", async function () {
        skipWithout(this, "ssh-agent");
        const scene = await start(["w1"]);
        const { sim, engine, program } = scene;
        sim.addSettled("w1", "worker");
        await engine.up(program([], ["w1"]));
        sim.rotateKey();
        const agent = await TestAgent.start(sim.privateKey);
        try {
            await withEnvironment({ SSH_AUTH_SOCK: agent.socket }, async () => {
                assert.deepEqual(await engine.refresh(), { same: 2 });
                await engine.destroy();
            });
            assert.deepEqual(leftOn(sim.find("w1")), []);
        } finally {
            agent.stop();
        }
    });

    it("fails a destroy that has no way to it, with words that say what to do, and loses nothing", async () => {
        const scene = await start(["w1"]);
        const { sim, engine, program } = scene;
        sim.addSettled("w1", "worker");
        await engine.up(program([], ["w1"]));
        sim.rotateKey();
        await assert.rejects(engine.destroy(), /does not let root in[^]*rotating-keys\.md/);
        assert.equal((await engine.outputsOf("w1"))["status"], "ready");
        // Replaced in the same run that brings the new key: removed with it, too.
        await engine.up(program([], ["w1"], { triggers: ["new"] }));
        await engine.destroy();
        assert.deepEqual(leftOn(sim.find("w1")), []);
    });
});

describeEngine("a program that names another user, another key and only other controllers", (start) => {
    it("is followed by up at once, and by refresh and destroy after it", async () => {
        const scene = await start(["c2", "c3", "w1"]);
        const { sim, engine, program } = scene;
        settleAll(scene);
        sim.addSettled("c3", "controller+worker");
        await engine.up(program(["c2"], ["w1"], { cluster: { controllers: named(scene, "c1") } }));
        goneFromOutside(scene, "c1");
        sim.rotateKey();
        sim.renameUser("admin");
        await sim.until("the others go on", () => sim.cluster.etcd.works && sim.cluster.etcd.leaderId !== undefined);
        await engine.refresh();
        assert.equal((await engine.outputsOf("w1"))["status"], "unreachable");
        const nodes = program(["c2"], ["w1"], { cluster: { controllers: named(scene, "c2", "c3") } });
        await engine.up(nodes);
        for (const name of ["c2", "w1"]) {
            const { status, drift } = await engine.outputsOf(name);
            assert.deepEqual([name, status, drift], [name, "ready", []]);
        }
        assert.deepEqual((await engine.up(nodes)).changes, { same: 3 });
        assert.deepEqual(await engine.refresh(), { same: 3 });
        await engine.destroy();
        assert.deepEqual(scene.sim.memberNames(), ["c3"]);
        for (const name of ["c2", "w1"]) assert.deepEqual(leftOn(sim.find(name)), []);
    });
});

/** Somebody else took it out of the cluster. */
function goneFromOutside({ sim }: Scene, name: string): void {
    sim.removeMemberFromOutside(sim.members().find((member) => member.name === name)?.id ?? 0n);
    sim.find(name).powerOff();
    sim.world.act(() => {
        for (const kind of [RESOURCES.nodes, RESOURCES.etcdMembers, RESOURCES.controlNodes]) {
            sim.cluster.store.delete(kind, name);
        }
    });
}

function settleAll({ sim }: Scene): void {
    sim.addSettled("c2", "controller+worker");
    sim.addSettled("w1", "worker");
}

function named({ sim }: Scene, ...names: readonly string[]): ControllerAddressArgs[] {
    return names.map((name) => ({ host: sim.find(name).address, connection: sim.connectionArgs(name) }));
}
