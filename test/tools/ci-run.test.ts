import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, before, beforeEach, describe, it } from "mocha";
import { skipWithout } from "../support/real-parts";
import { root } from "../support/root";

/** Programs that .ci/run only looks for. */
const LOOKED_FOR = "go shellcheck sshd ssh-agent sudo useradd script curl openssl busybox dash fish tcsh age jq".split(
    " ",
);

describe(".ci/run", () => {
    let folder: string;

    before(function () {
        skipWithout(this, "bash");
    });

    beforeEach(() => {
        folder = mkdtempSync(join(tmpdir(), "mke-ci-"));
        for (const name of ["bin", ".ci", "test/lab"]) mkdirSync(join(folder, name), { recursive: true });
        copyFileSync(join(root, ".ci", "run"), join(folder, ".ci", "run"));
        writeFileSync(join(folder, "test/lab/components.sh"), "");
        for (const name of [...LOOKED_FOR, "node"]) program(name, "exit 0");
        program("npx", "echo '1 passed, 0 failed'");
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    function program(name: string, body: string): void {
        writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    }

    function run(npm: Readonly<Record<string, string>>): { readonly status: number | null; readonly lines: string[] } {
        const cases = Object.entries(npm).map(([args, body]) => `"${args}"*) ${body} ;;`);
        program("npm", `case "$*" in ${cases.join(" ")} esac`);
        const env = { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, HOME: folder };
        const { status, stdout } = spawnSync("bash", [join(folder, ".ci", "run")], { env, encoding: "utf8" });
        return { status, lines: stdout.trim().split("\n") };
    }

    it("sums up tests and commands in its last line, and says before it how long each phase took", () => {
        const { status, lines } = run({
            test: "echo 'list'; echo '900 passed, 0 failed, 7 skipped'",
            "run test:package": "echo '22 passed, 0 failed'",
        });
        assert.equal(status, 0);
        assert.equal(lines.at(-1), "926 passed, 0 failed, 7 skipped");
        assert.match(lines.at(-2) ?? "", /^ +\d+ s {2}npm run bench$/);
        assert.ok(lines.some((line) => / s {2}npm test$/.test(line)));
    });

    for (const [what, npm, last] of [
        ["a failed test", { test: "echo '9 passed, 2 failed'; exit 1" }, "13 passed, 3 failed"],
        ["tests without a last line of theirs", { test: "echo oops" }, "4 passed, 2 failed"],
        [
            "tests that end badly after a good line",
            { test: "echo '9 passed, 0 failed'; exit 1" },
            "13 passed, 2 failed",
        ],
        ["a command that fails", { test: "echo '9 passed, 0 failed'", "run demo": "exit 1" }, "12 passed, 2 failed"],
    ] as const) {
        it(`fails on ${what}`, () => {
            const { status, lines } = run(npm);
            assert.notEqual(status, 0);
            assert.equal(lines.at(-1), last);
        });
    }

    it("lets nothing be skipped for a missing program", () => {
        const { lines } = run({ test: 'echo "CI=$CI, LAB_BIN=$LAB_BIN"' });
        assert.ok(lines.includes(`CI=true, LAB_BIN=${folder}/.cache/pulumi-mke/programs`), lines.join("\n"));
    });

    it("goes no further where the checks fail", () => {
        const { status, lines } = run({ "run check": "exit 3" });
        assert.deepEqual([status, lines.some((line) => line.includes("npm test"))], [3, false]);
    });
});
