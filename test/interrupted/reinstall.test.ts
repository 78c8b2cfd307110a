import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import { linesOf, World } from "../support/interruption";

describe("a node whose k0s settings change in the program", function () {
    this.timeout("3m");
    let world: World;

    afterEach(async () => {
        await world.close();
        closeAll();
        forgetControllers();
    });

    for (const name of ["w1", "c3"] as const) {
        it(`is restarted with them, and stays what it was (${name})`, async () => {
            world = await World.start(["c2", name]);
            const made = await world.create(name);
            const lines = await linesOf(async () => { await world.update(name, made.id, made.outs, { installFlags: ["--debug"] }); });
            process.stderr.write(lines.join("\n"));
            process.stderr.write(world.sim.find(name).files.text(world.sim.find(name).units.installed?.file ?? "") ?? "");
            assert.ok(world.sim.find(name).units.installed?.args.includes("--debug=true"));
        });
    }
});
