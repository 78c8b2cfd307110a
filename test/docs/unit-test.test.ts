import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import ts from "typescript";
import { root } from "../support/root";
import { programsOf, unitTestsOf } from "./blocks";

const OPTIONS: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    noUnusedLocals: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    skipLibCheck: true,
    types: ["node"],
};

describe("the unit test that README prints, of the program that it prints", () => {
    let folder: string;
    let program: string;

    beforeEach(() => {
        folder = projectFolder();
        const [printed, ...others] = programsOf("README.md");
        assert.ok(printed !== undefined && others.length === 0);
        program = printed;
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    it("is accepted by the compiler, as the program is", () => {
        write(folder, "index.ts", program);
        write(folder, "index.test.ts", unitTest());
        assert.deepEqual(complaintsAbout(folder, ["index.ts", "index.test.ts"]), []);
    });

    it("passes", () => {
        const { status, output } = runTest(folder, program);
        assert.equal(status, 0, output);
        assert.match(output, /^# pass 1$/m);
    });

    for (const [what, from, to, complaint] of [
        ["another worker", '"w1", {', '"w2", {', /'w2'/],
        ["one host for two nodes", "10.77.0.21", "10.77.0.13", /have the same host/],
    ] as const) {
        it(`fails for a program with ${what}`, () => {
            assert.ok(program.includes(from));
            const { status, output } = runTest(folder, program.replace(from, to));
            assert.equal(status, 1);
            assert.match(output, complaint);
        });
    }
});

/** With the packages of a program. */
function projectFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "pulumi-mke-unit-test-"));
    const modules = join(folder, "node_modules");
    mkdirSync(modules);
    for (const name of ["@pulumi", "@types"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
    symlinkSync(root, join(modules, "pulumi-mke"));
    return folder;
}

function unitTest(): string {
    const [printed, ...others] = unitTestsOf("README.md");
    assert.ok(printed !== undefined && others.length === 0);
    return printed;
}

function write(folder: string, name: string, text: string): void {
    writeFileSync(join(folder, name), text);
}

function complaintsAbout(folder: string, names: readonly string[]): string[] {
    const host = ts.createCompilerHost(OPTIONS);
    host.getCurrentDirectory = () => folder;
    const paths = names.map((name) => join(folder, name));
    return ts
        .getPreEmitDiagnostics(ts.createProgram(paths, OPTIONS, host))
        .map((found) => ts.formatDiagnostic(found, host));
}

function runTest(folder: string, program: string): { readonly status: number | null; readonly output: string } {
    const compilerOptions = { ...OPTIONS, module: ts.ModuleKind.CommonJS, esModuleInterop: true };
    for (const [name, source] of [
        ["index.js", program],
        ["index.test.js", unitTest()],
    ] as const) {
        write(folder, name, ts.transpileModule(source, { compilerOptions }).outputText);
    }
    // A test runner inside of another one reports to it otherwise.
    const { NODE_TEST_CONTEXT: _outer, ...env } = process.env;
    const options = { cwd: folder, env, encoding: "utf8" } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--test", "index.test.js"], options);
    return { status, output: stdout + stderr };
}
