import assert from "node:assert/strict";
import { it } from "mocha";
import { blocksOf } from "../docs/blocks";
import { skipWithout } from "../support/real-parts";
import { describeEngine } from "./scene";

/** Blocks of commands of a guide as they stand there, but for what prepares a program's folder. */
function commandsOf(guide: string): string[] {
    return blocksOf(`docs/guides/${guide}`, /^console$/).map((block) =>
        block.replace(/^\$ /gm, "").replace(/^npm ci\n/m, ""),
    );
}

describeEngine("the commands of the guides", (start) => {
    it("fail a job in which something drifted, and say what; a worker is destroyed by its URN", async function () {
        skipWithout(this, "jq");
        const { sim, engine, program } = await start(["w1"]);
        sim.addSettled("w1", "worker");
        const [nightly = "", beforeUp = ""] = commandsOf("drift-in-ci.md");
        await engine.up(program([], ["w1"]));
        const clean = await engine.shell(nightly);
        assert.equal(clean.status, 0, clean.stdout);
        assert.doesNotMatch(clean.stdout, /^w1: /m);

        sim.find("w1").stopService();
        for (const night of [1, 2]) {
            const { status, stdout } = await engine.shell(nightly);
            assert.notEqual(status, 0, `night ${night}`);
            assert.match(stdout, /^w1: k0sworker is not running$/m);
        }
        assert.equal((await engine.shell(beforeUp)).status, 0);
        sim.find("w1").files.removeTree("/var/lib/k0s");
        sim.world.act(() => sim.find("w1").units.remove("k0sworker"));
        await engine.refresh();
        assert.equal((await engine.shell(beforeUp)).status, 1);

        const [destroyOne = ""] = commandsOf("destroying.md");
        const asked = destroyOne.replace(/'urn:.*'/, `'${await engine.urnOf("w1")}' --yes`);
        assert.notEqual(asked, destroyOne);
        assert.equal((await engine.shell(asked)).status, 0);
        assert.deepEqual(await engine.outputsOf("w1"), {});
    });

    it("show which joins failed, and with which errors", async function () {
        skipWithout(this, "jq");
        const { sim, engine, program } = await start(["w1"]);
        sim.find("w1").failing.set("install-service", "no space left on device");
        await assert.rejects(engine.up(program([], ["w1"])));
        const [block = ""] = commandsOf("recovering-a-failed-join.md");
        // The other command reads the journal of a machine that is there.
        const { status, stdout } = await engine.shell(block.replace(/^ssh .*$/m, ""));
        assert.equal(status, 0);
        const shown = JSON.parse(stdout) as { readonly urn: string; readonly initErrors: readonly string[] };
        assert.equal(shown.urn, await engine.urnOf("w1"));
        assert.match(shown.initErrors.join(), /no space left on device/);
    });
});
