import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import type { Context } from "mocha";
import {
    decodeResult,
    encodeProgram,
    type ProgramName,
    type ProgramValues,
} from "../../provider/adapters/host/program";
import { programBody } from "../../provider/adapters/host/scripts";
import { ENTER } from "./own-mounts";
import { skipWithout } from "./real-parts";

/** For `before`: leaves the tests out where there are none. */
export function needNamespaces(this: Context): void {
    skipWithout(this, "mount namespaces");
}

/** Runs shell text that may call `program <file>`; the program's framed output goes to stdout, and is parsed. */
export function inNamespace(
    name: ProgramName,
    values: ProgramValues,
    prepare: string,
    look: string,
): { readonly exitCode: number | undefined; readonly said: string; readonly stderr: string; readonly seen: string[] } {
    const program = encodeProgram(name, values, programBody(name));
    const script = `${ENTER}\n${prepare}\nsh -s <<'END OF PROGRAM'\n${program}\nEND OF PROGRAM\necho ===== look\n${look}\n`;
    const run = spawnSync("unshare", ["-m", "sh", "-s"], { input: script, encoding: "utf8" });
    assert.equal(run.status, 0, run.stderr);
    const [output, seen] = run.stdout.split("===== look\n") as [string, string];
    const result = decodeResult(Buffer.from(output));
    return {
        exitCode: result?.exitCode,
        said: result?.stdout.toString() ?? "",
        stderr: run.stderr,
        seen: seen.split("\n").filter((line) => line !== ""),
    };
}
