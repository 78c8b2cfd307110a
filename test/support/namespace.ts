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

/**
 * The programs that remove and stop things, run for real in a mount namespace of their own: what they see of /etc,
 * /run, /var/lib and /var/log is not the machine's.
 */
const ENTER = `
set -eu
mount --make-rprivate /
upper=$(mktemp -d)
mount -t tmpfs tmpfs "$upper"
mkdir "$upper/up" "$upper/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$upper/up,workdir=$upper/work" /etc
for directory in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$directory"; done
mkdir -p /etc/systemd/system /var/lib/k0s /run/fake
umount -l "$upper"
rmdir "$upper"
PATH=/run/fake:$PATH
`;

/** False where no mount namespaces can be made, which needs root. */
const namespaces = spawnSync("unshare", ["-m", "sh", "-c", ENTER]).status === 0;

/** For `before`: leaves the tests out where there are none. */
export function needNamespaces(this: Context): void {
    if (namespaces) return;
    console.log("    skipped: no mount namespaces here (needs root)");
    this.skip();
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
