import assert from "node:assert/strict";
import { it } from "mocha";
import { MkeControllerNode } from "pulumi-mke";
import { Engine } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { Cloud, leftOn, Machine } from "./machines";
import { describeEngine, type Scene } from "./scene";

describeEngine("keys that rotate", (start) => {
    it("are used by up at once, and by refresh and destroy after it", async () => {
        const scene = await start(["c2", "w1"]);
        const { sim, engine, program } = scene;
        sim.addSettled("c2", "controller+worker");
        sim.addSettled("w1", "worker");
        await engine.up(program(["c2"], ["w1"]));
        sim.rotateKey();
        await engine.refresh();
        assert.equal((await engine.outputsOf("w1"))["status"], "unreachable");
        await engine.up(program(["c2"], ["w1"]));
        for (const name of ["c2", "w1"]) assert.equal((await engine.outputsOf(name))["status"], "ready");
        assert.deepEqual(await engine.refresh(), { same: 3 });
        await engine.destroy();
        assert.deepEqual(scene.sim.memberNames(), ["c1"]);
        for (const name of ["c2", "w1"]) assert.deepEqual(leftOn(sim.find(name)), []);
    });
});

describeEngine("a preview in which nothing is known yet", (start) => {
    it("says what will be made and replaced, and opens no connection", async () => {
        const { sim, engine } = await start(["c2"]);
        const cloud = await Cloud.start(sim, "c1");
        try {
            const program = (image: string) => () => {
                const { address } = new Machine("machine", { cloud: cloud.url, image });
                const connection = sim.connectionArgs("c1");
                new MkeControllerNode("node", {
                    host: address,
                    connection: { ...connection, privateKey: address.apply(() => sim.privateKey) },
                    cluster: { controllers: [{ host: address }, { host: sim.find("c1").address, connection }] },
                    onLastController: "reset",
                });
                return Promise.resolve();
            };
            assert.deepEqual(await engine.preview(program("old")), { create: 3 });
            assert.deepEqual(programsIn(sim), []);
            await engine.up(program("old"));
            const began = programsIn(sim).length;
            assert.deepEqual(await engine.preview(program("new")), { same: 1, replace: 2 });
            assert.equal(programsIn(sim).length, began);
        } finally {
            cloud.close();
        }
    });
});

describeEngine("two stacks that change one cluster at the same time", (start) => {
    it("both succeed, one controller after the other", async () => {
        const scene = await start(["c2", "c3", "w1", "w2"]);
        const { sim, engine, program } = scene;
        const other = await Engine.start(findPulumi() ?? "", { name: "other" });
        try {
            await Promise.all([engine.up(program(["c2"], ["w1"])), other.up(program(["c3"], ["w2"]))]);
            assert.deepEqual(scene.sim.memberNames(), ["c1", "c2", "c3"]);
            await Promise.all([engine.destroy(), other.up(program(["c3"]))]);
            assert.deepEqual(scene.sim.memberNames(), ["c1", "c3"]);
            for (const name of ["c2", "w1", "w2"]) assert.deepEqual(leftOn(sim.find(name)), []);
        } finally {
            await other.close();
        }
    });
});

/** Any sign that somebody looked at a host. */
function programsIn(sim: Scene["sim"]): readonly unknown[] {
    return sim.events.filter(({ kind }) => kind === "program");
}
