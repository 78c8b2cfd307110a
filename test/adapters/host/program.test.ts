import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { describe, it } from "mocha";
import {
    PROGRAM_NAMES,
    decodeProgram,
    decodeResult,
    encodeProgram,
    encodeResult,
} from "../../../provider/adapters/host/program";
import { commandFor, decodeCommand, type RootAccess } from "../../../provider/adapters/host/command-line";
import { programBody } from "../../../provider/adapters/host/scripts";
import { type RealPart, skipWithout } from "../../support/real-parts";

const NASTY = "it's '\\'' $HOME `id` \\ \"x\"\n# end of values\nEVIL='1'\n";

const SHELLS: readonly (readonly [RealPart, readonly string[]])[] = [
    ["dash", []],
    ["bash", []],
    ["busybox", ["sh"]],
];

describe("the format of remote programs", () => {
    it("brings every value back as it was", () => {
        const values = { A: "", B: "plain", C: NASTY, D: "'", E: "''", F: "ends with quote'" };
        const decoded = decodeProgram(encodeProgram("exists", values, "true"));
        assert.equal(decoded.name, "exists");
        assert.deepEqual(decoded.values, values);
    });

    it("refuses names that a shell would not take and values that it cannot hold", () => {
        assert.throws(() => encodeProgram("exists", { "a b": "" }, ""), /not a name/);
        assert.throws(() => encodeProgram("exists", { A: "x\0y" }, ""), /NUL/);
    });

    it("refuses to read what is not a program", () => {
        assert.throws(() => decodeProgram("echo hello\n"), /not a pulumi-mke program/);
        assert.throws(() => decodeProgram("# pulumi-mke:x\nrm -rf /\n"), /must be lines/);
        assert.throws(() => decodeProgram("# pulumi-mke:x\nA='b' rm\n# end of values\n"), /not quoted/);
    });

    it("finds the result between a noisy profile and a noisy logout", () => {
        const result = decodeResult(
            Buffer.concat([Buffer.from("Welcome!\n"), encodeResult(3, "a\nb"), Buffer.from("bye\n")]),
        );
        assert.deepEqual({ ...result, stdout: result?.stdout.toString() }, { exitCode: 3, stdout: "a\nb" });
    });

    it("finds no result where the end is missing", () => {
        const whole = encodeResult(0, "content");
        for (let length = 0; length < whole.length; length += 1) {
            assert.equal(decodeResult(whole.subarray(0, length)), undefined, `cut at ${length}`);
        }
    });

    for (const [shell, args] of SHELLS) {
        it(`passes nasty values through ${shell} and exact bytes and the exit code back`, function () {
            skipWithout(this, shell);
            const program = encodeProgram("exists", { A: NASTY }, "printf '%s' \"$A\"; exit 7");
            const run = spawnSync(shell, [...args, "-s"], { input: program });
            const result = decodeResult(run.stdout);
            assert.equal(result?.exitCode, 7);
            assert.equal(result.stdout.toString(), NASTY);
        });

        it(`does nothing in ${shell} when the program was cut off on the way`, function () {
            skipWithout(this, shell);
            const program = encodeProgram("exists", {}, "echo ran >&2");
            const cut = program.slice(0, program.indexOf("echo ran") + 12);
            const run = spawnSync(shell, [...args, "-s"], { input: cut, encoding: "utf8" });
            assert.doesNotMatch(run.stderr, /^ran$/m);
            assert.equal(decodeResult(Buffer.from(run.stdout)), undefined);
        });

        it(`has only programs that ${shell} can read`, function () {
            skipWithout(this, shell);
            for (const name of PROGRAM_NAMES) {
                execFileSync(shell, [...args, "-n"], { input: encodeProgram(name, {}, programBody(name)) });
            }
        });
    }
});

describe("the command lines", () => {
    const tasks = [
        { kind: "program" },
        { kind: "send", path: "/usr/local/bin/k0s" },
        { kind: "take", path: "/usr/local/bin/.pulumi-mke-upload-x" },
    ] as const;
    const ways: RootAccess[] = ["root", "sudo", "sudo-with-password"];

    it("can be read back by the simulation", () => {
        for (const task of tasks) {
            for (const access of ways) {
                const { line, ready, prompt } = commandFor(task, access, "abc123");
                assert.deepEqual(decodeCommand(line), { task, access, ready, prompt }, line);
            }
        }
        assert.equal(decodeCommand("rm -rf /"), undefined);
    });

    it("refuse a path that a shell could take for more", () => {
        for (const path of ["relative", "/a b", "/a;b", "/a'b", "/$x", "/a>b"]) {
            assert.throws(() => commandFor({ kind: "send", path }, "root", "1"), /must be plain/);
        }
    });
});
