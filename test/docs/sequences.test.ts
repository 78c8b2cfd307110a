import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, it } from "mocha";
import { stagesOf, World } from "../support/interruption";
import { root } from "../support/root";

interface Row {
    readonly stage: string;
    readonly when: string;
}

/** Rows of each section of the page, in order. */
function readPage(): ReadonlyMap<string, readonly Row[]> {
    const text = readFileSync(join(root, "docs", "sequences.md"), "utf8");
    const sections = text.split(/^## /m).slice(1);
    return new Map(
        sections.map((section) => {
            const [title = "", ...lines] = section.split("\n");
            const rows = lines
                .filter((line) => line.startsWith("| "))
                .map((line) => line.split("|").map((field) => field.trim()))
                .filter(([, stage = ""]) => stage !== "Stage" && !/^-+$/.test(stage));
            return [title, rows.map(([, stage = "", when = ""]) => ({ stage, when }))];
        }),
    );
}

/** Names of the stages in the code; what is filled in at run time is `…`. */
function stagesInCode(): { readonly names: ReadonlySet<string>; readonly unnamed: readonly string[] } {
    const names = new Set<string>();
    const unnamed: string[] = [];
    const folder = join(root, "provider");
    for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(".ts"),
    )) {
        const text = readFileSync(join(folder, file), "utf8");
        for (const { index } of text.matchAll(/(?<!function )\brunStage\(/g)) {
            const named = /^runStage\(\s*[\w.]+,\s*(?<quote>["`])(?<name>.*?)\k<quote>/s.exec(text.slice(index));
            const name = named?.groups?.["name"]?.replace(/\$\{[^}]*\}/g, "…");
            if (name === undefined) unnamed.push(`${file}: ${text.slice(index, index + 60).replace(/\s+/g, " ")}`);
            else names.add(name);
        }
    }
    return { names, unnamed };
}

const page = readPage();

function rowsOf(section: string): readonly Row[] {
    const rows = page.get(section);
    assert.ok(rows !== undefined && rows.length > 0, `docs/sequences.md has no table under "${section}"`);
    return rows;
}

/** The stages that ran are in the section, in its order; what is `always` there has run. */
function assertDescribed(section: string, ran: readonly string[]): void {
    const rows = rowsOf(section);
    const unknown = ran.filter((stage) => !rows.some((row) => row.stage === stage));
    assert.deepEqual(unknown, [], `rows to add under "${section}" in docs/sequences.md`);
    const order = rows.map(({ stage }) => stage).filter((stage) => ran.includes(stage));
    assert.deepEqual(ran, order, `the order of the stages under "${section}" in docs/sequences.md`);
    const missing = rows.filter(({ stage, when }) => when === "always" && !ran.includes(stage));
    assert.deepEqual(missing, [], `stages that docs/sequences.md says always run under "${section}"`);
}

describe("the page on sequences", function () {
    this.timeout("5m");
    let world: World;

    it("has a row for each stage in the code, and no other", () => {
        const { names, unnamed } = stagesInCode();
        assert.deepEqual(unnamed, [], "stages whose name cannot be read off the code: give it as a literal");
        const described = new Set([...page.values()].flatMap((rows) => rows.map(({ stage }) => stage)));
        const missing = [...names].filter((name) => !described.has(name)).sort();
        assert.deepEqual(missing, [], "stages that docs/sequences.md does not describe");
        const extra = [...described].filter((name) => !names.has(name)).sort();
        assert.deepEqual(extra, [], "stages in docs/sequences.md that are not in the code");
    });

    describe("says what really runs", () => {
        afterEach(() => world.close());

        for (const [kind, name] of [
            ["worker", "w1"],
            ["controller", "c3"],
        ] as const) {
            it(`when a ${kind} is added, rebuilt and removed`, async () => {
                world = await World.start(["c2"]);
                let made = { id: "", outs: {} };
                const added = await stagesOf(async () => (made = await world.create(name)));
                assertDescribed(`Adding a ${kind}`, added);
                await world.rest();

                world.sim.find(name).wipe();
                await world.rest();
                const outs = await world.refresh(name, made);
                const rebuilt = await stagesOf(
                    async () => (made = { ...made, outs: await world.update(name, made.id, outs) }),
                );
                const begin = rebuilt.length - added.length;
                assert.deepEqual(rebuilt.slice(begin), added, "the second half of a rebuild");
                assertDescribed(`Removing a ${kind}`, rebuilt.slice(0, begin));
                await world.rest();

                const removed = await stagesOf(async () => World.kindOf(name).delete(made.id, made.outs));
                assertDescribed(`Removing a ${kind}`, removed);
            });
        }

        it("when a node is repaired", async () => {
            world = await World.start(["w1"]);
            const made = await world.create("w1");
            world.sim.find("w1").stopService();
            const outs = await world.refresh("w1", made);
            assertDescribed("Repairing a node", await stagesOf(async () => world.update("w1", made.id, outs)));
        });

        for (const name of ["w1", "c3"]) {
            it(`when settings of its k0s change (${name})`, async () => {
                world = await World.start(["c2", name]);
                const { id, outs } = await world.create(name);
                const more = {
                    installFlags: ["--debug"],
                    labels: { zone: "a" },
                    taints: ["a:NoSchedule"],
                    ...(name === "c3" && { k0sConfig: { spec: { telemetry: { enabled: false } } } }),
                };
                assertDescribed("Reinstalling k0s", await stagesOf(async () => world.update(name, id, outs, more)));
            });
        }

        it("when the last controller goes", async () => {
            world = await World.start([]);
            const { id, outs } = await world.create("c1", { onLastController: "reset" });
            assertDescribed(
                "Removing the last controller",
                await stagesOf(async () => World.kindOf("c1").delete(id, outs)),
            );
        });
    });
});
