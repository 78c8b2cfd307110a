import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "mocha";
import { root } from "../support/root";
import { commandsOf, pages } from "./blocks";
import { COMMANDS, type Trial } from "./commands";

describe("the commands that README and the guides tell people to run", () => {
    it("are all on the list of what CI runs and what it cannot run", () => {
        for (const page of pages()) {
            const listed = (COMMANDS[page] ?? []).map(([command]) => command);
            assert.deepEqual(commandsOf(page), listed, `${page}: see test/docs/commands.ts`);
        }
    });

    it("stand, where the list says that CI runs them, in the file that it names", () => {
        for (const [command, trial] of Object.values(COMMANDS).flat()) {
            const place = placeOf(trial);
            if (place === undefined) continue;
            const text = readFileSync(join(root, place.file), "utf8");
            assert.ok(text.includes(place.words), `${command}: ${place.file} does not say ${place.words}`);
        }
    });

    it("are read from blocks whole, without their comments", () => {
        assert.ok(commandsOf("README.md").includes("npm run bench"));
        const continued = commandsOf("docs/guides/drift-in-ci.md").filter((command) => command.includes("\n"));
        assert.equal(continued.length, 1);
    });
});

function placeOf(trial: Trial) {
    return "cannot" in trial ? trial.instead : trial;
}
