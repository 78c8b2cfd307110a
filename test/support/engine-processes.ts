import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** `cli`: `pulumi` itself; `provider`: the process that runs dynamic providers; `other`: what started it, and helpers. */
export interface EngineProcess {
    readonly pid: number;
    readonly kind: "cli" | "provider" | "other";
}

/** Where processes cannot be told by their environment, tests that end them are left out. */
export const seesProcesses = existsSync("/proc/self/environ");

/** All whose environment has that line: the CLI of one stack, and whatever it started. */
export function processesWith(variable: string): EngineProcess[] {
    const pids = (seesProcesses ? readdirSync("/proc") : []).filter((name) => /^\d+$/.test(name));
    return pids.flatMap((pid) => {
        if (!linesOf(pid, "environ").includes(variable)) return [];
        const command = linesOf(pid, "cmdline");
        return command.length === 0 ? [] : [{ pid: Number(pid), kind: kindOf(command) }];
    });
}

/** SIGKILL, also to one that has just ended. */
export function endNow({ pid }: EngineProcess): void {
    try {
        process.kill(pid, "SIGKILL");
    } catch {
        // It ended meanwhile.
    }
}

/** Empty for a process that has ended, or is not ours. */
function linesOf(pid: string, file: string): string[] {
    try {
        return readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0").slice(0, -1);
    } catch {
        return [];
    }
}

function kindOf(command: readonly string[]): EngineProcess["kind"] {
    if (basename(command[0] ?? "") === "pulumi") return "cli";
    return command.some((part) => part.includes("/cmd/dynamic-provider")) ? "provider" : "other";
}
