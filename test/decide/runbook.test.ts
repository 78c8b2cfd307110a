import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "mocha";
import { TOPICS } from "../../provider/decide/refusal";
import { root } from "../support/root";

const text = readFileSync(join(root, "docs", "runbook.md"), "utf8");
const headings = [...text.matchAll(/^## (?<topic>.+)$/gm)].map((match) => match.groups?.["topic"] ?? "");

function section(topic: string): string {
    const [, rest = ""] = text.split(`\n## ${topic}\n`);
    return rest.split("\n## ")[0] ?? "";
}

/** The commands of one part of a section, without the remarks that say where they run. */
function commandsIn(part: string): string[] {
    const blocks = [...part.matchAll(/```sh\n(?<commands>[^]*?)```/g)].map((match) => match.groups?.["commands"] ?? "");
    return blocks.flatMap((block) => block.split("\n")).filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

describe("the runbook", () => {
    for (const topic of TOPICS) {
        it(`tells for ${topic} how to look, how to repair, and when it is safe to go on`, () => {
            assert.ok(headings.includes(topic));
            const parts =
                /\*\*Look\.\*\*(?<look>[^]*)\*\*Repair\.\*\*(?<repair>[^]*)\*\*Safe to go on when\*\*(?<safe>[^]*)/;
            const { look = "", repair = "", safe = "" } = parts.exec(section(topic))?.groups ?? {};
            assert.ok(commandsIn(look).length > 0, "no commands to look");
            assert.ok(commandsIn(repair).length > 0, "no commands to repair");
            assert.ok(commandsIn(repair).some(changesSomething), "nothing in its repair changes anything");
            assert.match(safe, /^ [^]{20,}\.\n/);
        });

        it(`shows for ${topic} commands that a shell can read, each block saying where they run`, () => {
            for (const { groups } of section(topic).matchAll(/```sh\n(?<commands>[^]*?)```/g)) {
                const commands = groups?.["commands"] ?? "";
                assert.match(commands, /^# \w/);
                const { status, stderr } = spawnSync("sh", ["-n"], { input: commands, encoding: "utf8" });
                assert.equal(status, 0, stderr);
            }
        });
    }

    it("has no section that no error leads to", () => {
        const general = ["Before anything else"];
        assert.deepEqual(headings.filter((heading) => !general.includes(heading)).sort(), [...TOPICS].sort());
    });
});

function changesSomething(command: string): boolean {
    return /\b(systemctl (re)?start|systemctl disable|etcd leave|reset|restore|delete|patch|annotate|sed -i|member\/remove|rm |mv |useradd)/.test(
        command,
    );
}
