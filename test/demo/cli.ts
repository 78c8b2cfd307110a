import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { version } from "@pulumi/pulumi/version";
import { findPulumi } from "../support/find-pulumi";
import { root } from "../support/root";

/** What `test/tools/build-pulumi.sh` builds. */
const BUILT_VERSION = "3.274.1";
const INSTALL_SECONDS = 20;

export const HOW_TO_GET_PULUMI = [
    "There is no Pulumi CLI on PATH or in ~/.pulumi, and it could not be installed.",
    "Install it as https://www.pulumi.com/docs/install says, for example",
    "  curl -fsSL https://get.pulumi.com | sh        (Linux, macOS)",
    "  brew install pulumi/tap/pulumi                (macOS)",
    "and run this again. With Go on PATH it is built from source instead.",
].join("\n");

/** The Pulumi CLI of this machine; else installed, else built. undefined: there is none, and no way to one. */
export async function obtainPulumi(say: (line: string) => void, signal: AbortSignal): Promise<string | undefined> {
    const found = findPulumi();
    if (found !== undefined) return found;
    say(`No Pulumi CLI on PATH or in ~/.pulumi: installing it from get.pulumi.com (at most ${INSTALL_SECONDS} s)`);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(INSTALL_SECONDS * 1000)]);
    const installer = join(__dirname, "install.js");
    if (await succeeds(process.execPath, [installer, folderOf(version)], "ignore", limit)) return findPulumi();
    signal.throwIfAborted();
    if (!(await succeeds("go", ["version"], "ignore", signal))) return undefined;
    const folder = join(folderOf(BUILT_VERSION), "bin");
    say(`Not installed. Building Pulumi ${BUILT_VERSION} with Go into ${folder}: this takes minutes, once`);
    const built = await succeeds("bash", [join(root, "test", "tools", "build-pulumi.sh"), folder], "inherit", signal);
    signal.throwIfAborted();
    return built ? findPulumi() : undefined;
}

/** Where the Automation API puts a version of the CLI, and `findPulumi` finds it. */
function folderOf(release: string): string {
    return join(process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"), "versions", release);
}

/** Runs a program with whatever it starts in a process group of its own, which ends with the signal. */
function succeeds(
    program: string,
    args: string[],
    output: "ignore" | "inherit",
    signal: AbortSignal,
): Promise<boolean> {
    return new Promise((resolve) => {
        const env = { ...process.env, PULUMI_VERSION: BUILT_VERSION };
        const child = spawn(program, args, { stdio: ["ignore", output, output], detached: true, env });
        const end = (): void => {
            if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
        };
        signal.addEventListener("abort", end, { once: true });
        const settle = (succeeded: boolean): void => {
            signal.removeEventListener("abort", end);
            resolve(succeeded);
        };
        child.once("error", () => settle(false));
        child.once("exit", (code) => settle(code === 0));
    });
}
