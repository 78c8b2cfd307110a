import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import type { UpdateSummary } from "@pulumi/pulumi/automation";

/** Of all stacks of the tests. */
export const PROJECT = "mke";

export function backendOf(folder: string): string {
    return `file://${folder}`;
}

/** The file that holds a stack's state, as text. */
export function writtenState(folder: string, stack: string): Promise<string> {
    return readFile(join(folder, ".pulumi", "stacks", PROJECT, `${stack}.json`), "utf8");
}

/** What the last run did, by kind of change, as `pulumi stack history` says. */
export async function lastChanges(folder: string, stack: string): Promise<Record<string, number | undefined>> {
    const history = join(folder, ".pulumi", "history", PROJECT, stack);
    // The time is part of the name.
    const last = (await readdir(history))
        .filter((file) => file.endsWith(".history.json"))
        .sort()
        .at(-1);
    if (last === undefined) throw new Error(`nothing was run in ${stack}`);
    const { resourceChanges } = JSON.parse(await readFile(join(history, last), "utf8")) as Partial<UpdateSummary>;
    return resourceChanges ?? {};
}

/** Of a CLI that keeps its stacks in that folder. */
export function environment(folder: string): Record<string, string> {
    // The engine looks on PATH for the script that starts dynamic providers; the npm package carries it.
    const sdk = dirname(createRequire(__filename).resolve("@pulumi/pulumi/package.json"));
    return {
        PULUMI_BACKEND_URL: backendOf(folder),
        PULUMI_CONFIG_PASSPHRASE: "test",
        PULUMI_SKIP_UPDATE_CHECK: "true",
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        PATH: `${sdk}${delimiter}${process.env["PATH"] ?? ""}`,
    };
}
