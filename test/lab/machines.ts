import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The scripts stay where they are written; tests run from `dist`. */
const SCRIPTS = join(__dirname, "../../../test/lab");
const LAB_DIR = process.env["LAB_DIR"] ?? "/tmp/mke-lab";
/** This host's address on the machines' network, which is a /24. */
export const GATEWAY = process.env["LAB_GATEWAY"] ?? "10.77.0.1";

export interface Machine {
    readonly name: string;
    readonly address: string;
}

export const c1 = machineAt("c1", 11);
export const c2 = machineAt("c2", 12);
export const c3 = machineAt("c3", 13);
export const c4 = machineAt("c4", 14);
export const c5 = machineAt("c5", 15);
export const w1 = machineAt("w1", 21);

export function addressAt(lastByte: number): string {
    return GATEWAY.replace(/\d+$/, String(lastByte));
}

export function machineAt(name: string, lastByte: number): Machine {
    return { name, address: addressAt(lastByte) };
}

/** Boots real machines (systemd, sshd, own address and disk) through lab.sh. */
export async function bootMachine({ name, address }: Machine): Promise<void> {
    await run("bash", [join(SCRIPTS, "lab.sh"), "up", name, address]);
}

export async function destroyMachine({ name }: Machine): Promise<void> {
    await run("bash", [join(SCRIPTS, "lab.sh"), "down", name]);
}

/** Cuts the power; the disk stays. */
export async function killMachine({ name }: Machine): Promise<void> {
    await run("bash", [join(SCRIPTS, "lab.sh"), "kill", name]);
}

export async function destroyLab(): Promise<void> {
    await run("bash", [join(SCRIPTS, "lab.sh"), "down"]);
}

/** `spec.api` of the cluster, as far as scenes differ in it. */
export interface FirstController {
    readonly externalAddress?: string | undefined;
    readonly onlyBindToAddress?: boolean | undefined;
}

/** Installs the first controller, which the provider never does. */
export async function startFirstController({ name, address }: Machine, options: FirstController = {}): Promise<void> {
    const { externalAddress, onlyBindToAddress = false } = options;
    const env = { ...process.env, LAB_EXTERNAL: externalAddress, LAB_ONLY_BIND: String(onlyBindToAddress) };
    await run("bash", [join(SCRIPTS, "first-controller.sh"), name, address], { env });
}

/** The SSH host key that a machine has now. */
export async function hostKeyOf({ name }: Machine): Promise<string> {
    return (await run("bash", [join(SCRIPTS, "lab.sh"), "hostkey", name])).stdout.trim();
}

export async function labKey(): Promise<string> {
    return readFile(join(LAB_DIR, "key"), "utf8");
}

/** Standard output of a command on a machine; fails with its standard error. */
export async function on({ address }: Machine, command: string): Promise<string> {
    const { stdout } = await run("bash", [join(SCRIPTS, "lab.sh"), "ssh", address, command], { maxBuffer: 64 << 20 });
    return stdout;
}

/** Makes the container image of the lab's pods. */
export async function makeImage(file: string): Promise<void> {
    await run("bash", [join(SCRIPTS, "image.sh"), file]);
}

/** What pods.yaml and the scripts beside it say. */
export function textOf(script: string): Promise<string> {
    return readFile(join(SCRIPTS, script), "utf8");
}

/** k0s imports what it finds in `images` when it starts. Only a blank machine gets it, as an administrator would do it. */
export async function placeImage({ name }: Machine, file: string): Promise<void> {
    const dataDir = join(LAB_DIR, "hosts", name, "data");
    if ((await readdir(dataDir)).length > 0) return;
    await mkdir(join(dataDir, "images"));
    await copyFile(file, join(dataDir, "images", "lab.tar"));
}

/** Copies a file of this machine onto another. */
export async function send({ address }: Machine, from: string, to: string): Promise<void> {
    const copy = 'exec bash "$1" ssh "$2" "cat > $3" < "$4"';
    await run("bash", ["-c", copy, "send", join(SCRIPTS, "lab.sh"), address, to, from]);
}
