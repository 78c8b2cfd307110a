import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long what runs may take to end after Ctrl-C, before it is killed. */
const PATIENCE = 30_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs a script in a process group and a temporary folder of its own; both go when it ends. A terminal sends Ctrl-C to all
 * of a group: so the Pulumi CLI would get it twice, from there and from us, and end at once without ending its plugins.
 * Here a signal becomes one word to the script (see `whenToldToStop`). Answers the exit code.
 */
export async function runApart(script: string, onStop: () => void): Promise<number> {
    const folder = mkdtempSync(join(tmpdir(), "pulumi-mke-demo-"));
    const child = spawn(process.execPath, [...process.execArgv, script], {
        detached: true,
        stdio: ["ignore", "inherit", "inherit", "ipc"],
        env: { ...process.env, TMPDIR: folder },
    });
    const stop = (): void => {
        if (!child.connected) return;
        onStop();
        child.disconnect();
        setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), PATIENCE).unref();
    };
    for (const signal of SIGNALS) process.on(signal, stop);
    try {
        return await new Promise((resolve, reject) => {
            child.once("error", reject);
            child.once("exit", (code) => resolve(code ?? 1));
        });
    } finally {
        for (const signal of SIGNALS) process.off(signal, stop);
        rmSync(folder, { recursive: true, force: true });
    }
}

/** Aborted when the process that called `runApart` was told to stop, or is gone. */
export function whenToldToStop(): AbortSignal {
    const stop = new AbortController();
    process.once("disconnect", () => stop.abort());
    process.channel?.unref();
    return stop.signal;
}
