import assert from "node:assert/strict";
import { it } from "mocha";
import type { MkeControllerNodeArgs } from "pulumi-mke";
import { describeEngine, type Scene, writesIn } from "./scene";

/** A fingerprint of no host here. */
const OLD_KEY = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const OTHER_MACHINE = "the host is another machine than the one in state";

describeEngine("a controller's disk wiped behind Pulumi's back, its host key another one", (start) => {
    it("is rebuilt through the survivors after a refresh, and left alone without one", async () => {
        const scene = await start(["c2", "c3"]);
        const { sim, engine, program } = scene;
        settleAll(scene);
        const nodes = program(["c2", "c3"]);
        await engine.up(nodes);
        const dead = memberId(scene);
        sim.find("c3").wipe();
        const began = sim.events.length;
        assert.deepEqual((await engine.up(nodes)).changes, { same: 3 });
        assert.deepEqual(writesIn(sim, began), []);
        assert.equal(memberId(scene), dead);
        await engine.up(nodes, { refresh: true });
        assert.match(engine.output.join(""), new RegExp(`c3: will be updated: rebuild: ${OTHER_MACHINE}`));
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2", "c3"]);
        assert.notEqual(memberId(scene), dead);
        const sizes = sim.events.slice(began).filter(({ kind, what }) => kind === "etcd" && what.includes("removed"));
        assert.equal(sizes.length, 1);
        assert.equal((await engine.outputsOf("c3"))["status"], "ready");
        assert.deepEqual(await engine.refresh(), { same: 3 });
    });

    it("names the input to change where the old host key is pinned", async () => {
        const scene = await start(["c2", "c3"]);
        const { sim, engine, program } = scene;
        settleAll(scene);
        await engine.up(program(["c3"]));
        sim.find("c3").wipe();
        const pinned: Partial<MkeControllerNodeArgs> = {
            connection: { ...sim.connectionArgs("c3"), hostKey: OLD_KEY },
        };
        const began = sim.events.length;
        await assert.rejects(engine.up(program(["c3"], [], pinned)), /connection\.hostKey/);
        assert.deepEqual(writesIn(sim, began), []);
        await engine.up(program(["c3"]), { refresh: true });
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2", "c3"]);
        assert.equal(sim.find("c3").units.installed?.active, "active");
    });
});

function settleAll({ sim }: Scene): void {
    for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
}

function memberId({ sim }: Scene): bigint | undefined {
    return sim.members().find(({ name }) => name === "c3")?.id;
}
