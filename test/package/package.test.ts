import assert from "node:assert/strict";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { findPulumi } from "../support/find-pulumi";
import { root } from "../support/root";
import { type Dimension, DIMENSIONS, type Form, FORMS, titleOf } from "./forms";
import { makeProject, sdkVersion } from "./project";
import { runForm } from "./run";
import { command, Toolbox } from "./toolbox";

const TEXTS = { c2: textOf("controller"), w1: textOf("worker") };

describe("the package, as it is installed, loaded and run", function () {
    this.timeout("10m");
    const pulumi = findPulumi();
    const projects = new Map<string, Promise<string>>();
    let opened: Toolbox | undefined;

    before(async () => {
        assert.ok(pulumi, "there is no Pulumi CLI on PATH or in ~/.pulumi");
        opened = await Toolbox.open();
    });

    after(async () => {
        await opened?.close();
    });

    const toolboxOf = (): Toolbox => opened ?? assert.fail("the tools were not installed");

    /** Forms that differ in language and Node.js share a directory, made by the first of them. */
    const projectOf = ({ installer, sdk }: Form): Promise<string> => {
        const key = `${installer} ${sdk}`;
        const made = projects.get(key) ?? makeProject(toolboxOf(), installer, sdk);
        projects.set(key, made);
        return made;
    };

    it("is tried so that any two values of different dimensions meet", () => {
        const dimensions = Object.keys(DIMENSIONS) as Dimension[];
        for (const first of dimensions) {
            for (const second of dimensions.filter((other) => other > first)) {
                const seen = new Set(FORMS.map((form) => `${form[first]} + ${form[second]}`));
                assert.equal(seen.size, DIMENSIONS[first].length * DIMENSIONS[second].length, `${first} + ${second}`);
            }
        }
    });

    it("is packed with programs, documents and licence, and nothing of its tests", async () => {
        const listed = await command("tar", ["-tzf", toolboxOf().tarball], root, process.env);
        const files = listed.trim().split("\n");
        for (const file of [
            "dist/sdk/index.js",
            "dist/sdk/index.d.ts",
            "dist/provider/index.js",
            "docs/runbook.md",
            "LICENSE",
        ]) {
            assert.ok(files.includes(`package/${file}`), file);
        }
        assert.ok(files.some((file) => file.endsWith("/scripts/probe.sh")));
        assert.deepEqual(
            files.filter((file) => /\/test\/|\/node_modules\/|\.tsbuildinfo/.test(file)),
            [],
        );
    });

    for (const form of FORMS) {
        it(`joins, refreshes and removes nodes: ${titleOf(form)}`, async () => {
            const project = await projectOf(form);
            const run = await runForm(pulumi ?? "", toolboxOf(), project, form);

            assert.deepEqual(run.up, { create: 3 });
            assert.deepEqual(run.refresh, { same: 3 });
            assert.deepEqual(run.destroy, { delete: 3 });
            assert.deepEqual([run.joined, run.left, run.unclean], [["c1", "c2"], ["c1"], ["c1"]]);
            assert.equal(run.outputs["worker"], "w1");
            assert.match(String(run.outputs["memberId"]), /^[0-9a-f]+$/);

            assert.equal(run.texts.length, 4);
            for (const { name, text } of run.texts) assert.equal(text, TEXTS[name as keyof typeof TEXTS]);

            assert.equal(run.sdk, await sdkVersion(toolboxOf(), form.sdk));
            assert.match(run.node, new RegExp(`^v${form.node}\\.`));
            assert.ok(run.providers.length > 0, "no dynamic provider was seen");
            const home = form.installer === "npm link" ? root : project;
            for (const { node, script, provider } of run.providers) {
                assert.equal(node, run.node);
                assert.ok(script.startsWith(realpathSync(project)), `SDK of another project: ${script}`);
                assert.ok(provider.startsWith(realpathSync(home)), `package of another project: ${provider}`);
            }
        });
    }
});

function textOf(kind: string): string {
    return readFileSync(join(root, `test/sdk/stub.${kind}.txt`), "utf8");
}
