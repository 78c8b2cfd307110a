import assert from "node:assert/strict";
import { it } from "mocha";
import type { MkeControllerNodeArgs } from "pulumi-mke";
import type { SimEvent } from "../sim";
import { assertUnlocked, assertWhole, at, CUT_SHORT, runs } from "./ends";
import { describeEngine, type Scene, writesOn } from "./scene";

/** Seconds: for waits that are in vain here. */
const IMPATIENT: Partial<MkeControllerNodeArgs> = { timeouts: { ready: 6 } };
const READ_ONLY = "read-only file system";

describeEngine("a create that failed before anything was written", (start) => {
    it("leaves no resource in state, and nothing on the host", async () => {
        const scene = await start(["c2", "w1"]);
        const { sim, engine, program } = scene;
        for (const name of ["c2", "w1"]) sim.find("c1").firewall({ from: sim.find(name).address });
        await assert.rejects(engine.up(program(["c2"], ["w1"]), { continueOnError: true }), /9443/);
        for (const name of ["c2", "w1"]) {
            assert.deepEqual(await engine.outputsOf(name), {});
            assert.deepEqual(writesOn(sim, name), []);
        }
        assertUnlocked(sim);
        sim.find("c1").clearFirewall();
        await engine.up(program(["c2"], ["w1"]));
        await assertWhole(scene, ["c2"], ["w1"]);
    });
});

const HALF_MADE = ["c2", "w1", "w2"];

/** Half-made in each of the ways: before k0s is installed, in the middle, and with a node that never becomes Ready. */
async function failEach(scene: Scene): Promise<void> {
    const { sim, engine, program } = scene;
    sim.find("w1").failing.set("upload-finish", READ_ONLY);
    sim.find("c2").failing.set("install-service", "no space left on device");
    const from = sim.find("w2").address;
    at(sim, runs("w2", "install-service"), () => sim.find("c1").firewall({ port: 6443, from }));
    const up = engine.up(program(["c2"], ["w1", "w2"], IMPATIENT), { continueOnError: true });
    await assert.rejects(up, ({ message }: Error) =>
        [READ_ONLY, "no space left on device", `waiting for the Node on ${from}`].every((why) => message.includes(why)),
    );
    for (const name of HALF_MADE) assert.equal((await engine.outputsOf(name))["status"], "joining", name);
    assertUnlocked(sim);
}

function mend({ sim }: Scene): void {
    for (const host of sim.hosts) host.failing.clear();
    // One that k0s is still starting is waited for: it may yet come up by itself, and would as soon as the way is open.
    if (sim.hosts.some(({ name }) => name === "w2")) sim.find("w2").stopService();
    sim.find("c1").clearFirewall();
}

describeEngine(
    "a create that failed half-way",
    (start) => {
        it("is shown as half made by a refresh, and finished by the next up with the same token", async () => {
            const scene = await start(HALF_MADE);
            const { engine, program } = scene;
            await failEach(scene);
            const tokens = await tokensOf(scene);
            // It clears the engine's own note of the failure.
            await engine.refresh();
            for (const name of HALF_MADE) assert.equal((await engine.outputsOf(name))["status"], "joining", name);
            assert.deepEqual(await engine.preview(program(["c2"], ["w1", "w2"], IMPATIENT)), { same: 1, update: 3 });
            mend(scene);
            await engine.up(program(["c2"], ["w1", "w2"]));
            await assertWhole(scene, ["c2"], ["w1", "w2"]);
            assert.deepEqual(await tokensOf(scene), tokens);
            assert.deepEqual(await engine.refresh(), { same: 4 });
        });

        it("is taken back by destroy", async () => {
            const scene = await start(HALF_MADE);
            await failEach(scene);
            mend(scene);
            await scene.engine.destroy();
            await assertWhole(scene, [], []);
        });

        it("is taken back where its line is deleted from the program, after a refresh too", async () => {
            const scene = await start(HALF_MADE);
            const { engine, program } = scene;
            await failEach(scene);
            mend(scene);
            await engine.up(program([], ["w2"]), { refresh: true });
            await assertWhole(scene, [], ["w2"]);
            for (const name of ["c2", "w1"]) assert.deepEqual(await engine.outputsOf(name), {});
        });

        it("is taken back although not even its marker could be written, by delete or by a refresh", async () => {
            const scene = await start(["c2", "w1"]);
            const { sim, engine, program } = scene;
            for (const name of ["c2", "w1"]) sim.find(name).failing.set("write-file", READ_ONLY);
            await assert.rejects(engine.up(program(["c2"], ["w1"]), { continueOnError: true }));
            for (const name of ["c2", "w1"]) assert.equal((await engine.outputsOf(name))["status"], "joining", name);
            mend(scene);
            await engine.up(program([], ["w1"]));
            assert.deepEqual(await engine.outputsOf("c2"), {});
            await assertWhole(scene, [], ["w1"]);
        });
    },
    CUT_SHORT,
);

describeEngine(
    "a controller whose create failed late",
    (start) => {
        it("is a member already: finished by up, or taken out of etcd with its line", async () => {
            const scene = await start(["c2", "c3"]);
            const { sim, engine, program } = scene;
            await failLate(scene, "c2", ["c2"]);
            await engine.up(program(["c2"]));
            await assertWhole(scene, ["c2"], []);
            await failLate(scene, "c3", ["c2", "c3"]);
            assert.deepEqual(scene.sim.memberNames(), ["c1", "c2", "c3"]);
            await engine.refresh();
            assert.equal((await engine.outputsOf("c3"))["status"], "joining");
            await engine.up(program(["c2"]));
            await assertWhole(scene, ["c2"], []);
            assert.equal(sim.find("c3").units.installed, undefined);
        });
    },
    CUT_SHORT,
);

/** Once the join is over and its token has been blanked, nothing can be written there any more. */
async function failLate(scene: Scene, name: string, names: readonly string[]): Promise<void> {
    const { sim, engine, program } = scene;
    let isRetired = false;
    const isBlanked = (event: SimEvent): boolean => {
        isRetired ||= runs("c1", "token-invalidate")(event);
        return isRetired && runs(name, "write-file")(event);
    };
    at(sim, isBlanked, () => setImmediate(() => sim.find(name).failing.set("write-file", READ_ONLY)));
    await assert.rejects(engine.up(program(names)), new RegExp(READ_ONLY));
    assert.equal((await engine.outputsOf(name))["status"], "joining");
    mend(scene);
}

async function tokensOf({ engine }: Scene): Promise<unknown[]> {
    return Promise.all(HALF_MADE.map(async (name) => (await engine.outputsOf(name))["token"]));
}
