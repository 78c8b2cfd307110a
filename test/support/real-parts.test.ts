import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "mocha";
import { missingInCi } from "./real-parts";
import { root } from "./root";

const SKIPS = /\bthis\.skip\(|\b(?:describe|it)\.skip\(|\bxit\(|\bxdescribe\(/;

describe("tests that need a real program", () => {
    it("are skipped through one function alone, which knows what may be skipped", () => {
        const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
        const skipping = files
            .filter((file) => file.endsWith(".ts") && !/^(lab|support\/real-parts)/.test(file))
            .filter((file) => SKIPS.test(readFileSync(join(root, "test", file), "utf8")));
        assert.deepEqual(skipping, []);
    });

    it("are all run where CI is set: one line says what is missing, but for what may be skipped", () => {
        assert.equal(
            missingInCi(() => true),
            undefined,
        );
        const line = missingInCi((part) => part !== "etcd" && part !== "jq");
        assert.match(line ?? "", /^CI is set, and tests cannot run without: jq \(apt-get install jq\), etcd \(.*\)$/);
        assert.equal(
            missingInCi((part) => part !== "registry" && part !== "pulumi-language-nodejs"),
            undefined,
        );
    });

    it("end a run of the tests at once where one is missing", () => {
        const empty = mkdtempSync(join(tmpdir(), "mke-no-parts-"));
        try {
            const mocha = join(root, "node_modules", "mocha", "bin", "mocha.js");
            const run = spawnSync(process.execPath, [mocha, "dist/test/text.test.js"], {
                cwd: root,
                env: { PATH: empty, HOME: empty, CI: "true" },
                encoding: "utf8",
            });
            assert.notEqual(run.status, 0);
            assert.match(run.stderr, /^CI is set, and tests cannot run without: .*\betcd\b.*\n$/);
            assert.equal(run.stdout, "");
        } finally {
            rmSync(empty, { recursive: true });
        }
    });
});
