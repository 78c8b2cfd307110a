import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The scripts stay where they are written; tests run from `dist`. */
const SCRIPTS = join(__dirname, "../../../test/lab");
const LAB_DIR = process.env["LAB_DIR"] ?? "/tmp/mke-lab";

export interface Machine {
    readonly name: string;
    readonly address: string;
}

/** Boots real machines (systemd, sshd, own address and disk) through lab.sh. */
export async function bootMachine({ name, address }: Machine): Promise<void> {
    await run("bash", [join(SCRIPTS, "lab.sh"), "up", name, address]);
}

export async function destroyMachine({ name }: Machine): Promise<void> {
    await run("bash", [join(SCRIPTS, "lab.sh"), "down", name]);
}

export async function destroyLab(): Promise<void> {
    await run("bash", [join(SCRIPTS, "lab.sh"), "down"]);
}

/** Installs the first controller, which the provider never does. */
export async function startFirstController({ name, address }: Machine, externalAddress: string): Promise<void> {
    const env = { ...process.env, LAB_EXTERNAL: externalAddress };
    await run("bash", [join(SCRIPTS, "first-controller.sh"), name, address], { env });
}

export async function labKey(): Promise<string> {
    return readFile(join(LAB_DIR, "key"), "utf8");
}

/** Standard output of a command on a machine; fails with its standard error. */
export async function on({ address }: Machine, command: string): Promise<string> {
    const { stdout } = await run("bash", [join(SCRIPTS, "lab.sh"), "ssh", address, command], { maxBuffer: 64 << 20 });
    return stdout;
}

/** Copies a file of this machine onto another. */
export async function send({ address }: Machine, from: string, to: string): Promise<void> {
    const copy = 'exec bash "$1" ssh "$2" "cat > $3" < "$4"';
    await run("bash", ["-c", copy, "send", join(SCRIPTS, "lab.sh"), address, to, from]);
}
