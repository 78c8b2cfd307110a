import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { isExecutable } from "./program";

/** The Pulumi CLI of this machine, as users have it: on PATH, else under `~/.pulumi`. */
export function findPulumi(): string | undefined {
    return candidates().find(isExecutable);
}

function candidates(): string[] {
    const home = process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi");
    const onPath = (process.env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, "pulumi"));
    return [...onPath, join(home, "bin", "pulumi"), ...installedVersions(home)];
}

/** Where the Automation API's own installer puts it, newest first. */
function installedVersions(home: string): string[] {
    const versions = join(home, "versions");
    if (!existsSync(versions)) return [];
    return readdirSync(versions)
        .sort((a, b) => b.localeCompare(a, undefined, { numeric: true }))
        .map((version) => join(versions, version, "bin", "pulumi"));
}

if (require.main === module) {
    const found = findPulumi();
    process.stdout.write(`${found ?? "no Pulumi CLI on PATH or in ~/.pulumi"}\n`);
    process.exitCode = found === undefined ? 1 : 0;
}
