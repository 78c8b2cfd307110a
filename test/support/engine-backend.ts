import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
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
