import assert from "node:assert/strict";
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

describe("the runbook", () => {
    for (const topic of TOPICS) {
        it(`tells for ${topic} how to look, how to repair, and when it is safe to go on`, () => {
            assert.ok(headings.includes(topic));
            for (const part of ["**Look.**", "**Repair.**", "**Safe to go on when**"]) {
                assert.ok(section(topic).includes(part), `${part} is missing`);
            }
            assert.match(section(topic), /```sh\n/);
        });
    }

    it("has no section that no error leads to", () => {
        const general = ["Before anything else"];
        assert.deepEqual(headings.filter((heading) => !general.includes(heading)).sort(), [...TOPICS].sort());
    });
});
