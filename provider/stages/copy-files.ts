import { posix } from "node:path";
import type { FileFacts, OwnedPath } from "../adapters/host/material";
import type { Deadline } from "../deadline";
import { RefusedError } from "../errors";
import type { HostOperation } from "./operation";
import { notePut, putOn } from "./record-operation";

/** What the helper and the target have at the same paths. */
export interface BothSides {
    readonly helper: FileFacts;
    readonly target: FileFacts;
}

/** Files and directories that the target gets from the helper. Contents are held in memory only. */
export interface CopyPlan {
    readonly files: readonly PlannedFile[];
    /** Those that are missing, outer ones first. */
    readonly directories: readonly OwnedPath[];
    /** What is there already and belongs to a user that is gone: what an earlier node wrote before it was removed. */
    readonly orphans: readonly OwnedPath[];
}

export interface PlannedFile extends OwnedPath {
    /** undefined: an earlier run of ours has written it; only its owner may still be to be set. */
    readonly content: Buffer | undefined;
}

export const NOTHING_TO_COPY: CopyPlan = { files: [], directories: [], orphans: [] };

/** Looks at paths and all directories above them, on both sides. */
export async function lookAtBoth(
    { cluster, target }: HostOperation,
    paths: readonly string[],
    deadline: Deadline,
): Promise<ReadonlyMap<string, BothSides>> {
    const all = [...new Set(paths.flatMap((path) => [...directoriesAbove(path), path]))];
    const [helper, own] = await Promise.all([
        cluster.helper.material.describe(all, deadline),
        target.material.describe(all, deadline),
    ]);
    return new Map(
        all.flatMap((path, index): [string, BothSides][] => {
            const sides = { helper: helper[index], target: own[index] };
            return sides.helper === undefined || sides.target === undefined
                ? []
                : [[path, { helper: sides.helper, target: sides.target }]];
        }),
    );
}

/** `/etc` and `/etc/k0s` of `/etc/k0s/audit.yaml`, outer ones first. */
function directoriesAbove(path: string): string[] {
    const above: string[] = [];
    for (let at = posix.dirname(path); at !== "/" && at !== "."; at = posix.dirname(at)) above.unshift(at);
    return above;
}

/**
 * The directories these paths need, as they are on the helper: those that the target lacks, and those that an earlier run of
 * ours made.
 */
export function missingDirectories(
    operation: HostOperation,
    paths: readonly string[],
    seen: ReadonlyMap<string, BothSides>,
): FileFacts[] {
    const wanted = [...new Set(paths.flatMap(directoriesAbove))].sort(
        (a, b) => depth(a) - depth(b) || (a < b ? -1 : 1),
    );
    const made = putOn(operation)?.directories ?? [];
    return wanted.flatMap((path) => {
        const sides = seen.get(path);
        const isNew = sides?.target.kind === "absent" || made.includes(path);
        return isNew && sides?.helper.kind === "directory" ? [sides.helper] : [];
    });
}

/** True for a file that an earlier run of ours has put there. */
export function isOurs(operation: HostOperation, path: string): boolean {
    return putOn(operation)?.files.includes(path) === true;
}

/** Puts what is planned onto the target, for root at first: the owners may be users that k0s makes when it is installed. */
export async function putCopies(operation: HostOperation, plan: CopyPlan, deadline: Deadline): Promise<number> {
    const { target } = operation;
    const { files, directories } = plan;
    const paths = (items: readonly OwnedPath[]): string[] => items.map(({ path }) => path);
    await notePut(operation, { files: paths(files), directories: paths(directories) }, deadline);
    await target.material.makeDirectories(directories, deadline);
    let copied = 0;
    for (const { path, content, mode } of files) {
        if (content === undefined) continue;
        await target.writeFile(path, content, mode, deadline);
        copied += 1;
    }
    return copied;
}

/** The content of a file on the helper. It existed a moment ago. */
export async function readOnHelper(
    { cluster }: HostOperation,
    stage: string,
    path: string,
    deadline: Deadline,
): Promise<Buffer> {
    const content = await cluster.helper.readFile(path, deadline);
    if (content !== undefined) return content;
    throw new RefusedError({ stage, host: cluster.helper.address, what: `${path} vanished`, advice: "Run again." });
}

export function countOf(number: number, noun: string): string {
    return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function depth(path: string): number {
    return path.split("/").length;
}
