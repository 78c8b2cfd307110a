import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whyNot } from "./real-parts";

/** What is in a file that age encrypted with a passphrase; opened by the age tool, or by its library where there is none. */
export async function openWithAge(
    path: string,
    passphrase: string,
): Promise<{ readonly decrypted: Buffer; readonly skipped?: string }> {
    const skipped = whyNot("age", "script");
    if (skipped === undefined) return { decrypted: decryptWithTool(path, passphrase) };
    const { Decrypter } = await import("age-encryption");
    const decrypter = new Decrypter();
    decrypter.addPassphrase(passphrase);
    return { decrypted: Buffer.from(await decrypter.decrypt(readFileSync(path))), skipped };
}

/** age asks a terminal for the passphrase; `script` gives it one. */
function decryptWithTool(path: string, passphrase: string): Buffer {
    const folder = mkdtempSync(join(tmpdir(), "mke-age-"));
    const out = join(folder, "out");
    try {
        const run = spawnSync("script", ["-qec", `age -d -o ${out} ${path}`, "/dev/null"], {
            input: `${passphrase}\n`,
            timeout: 60_000,
            encoding: "utf8",
        });
        if (!existsSync(out)) throw new Error(`age did not open ${path}: ${run.stdout}${run.stderr}`);
        return readFileSync(out);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}
