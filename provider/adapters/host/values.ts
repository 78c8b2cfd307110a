import { InputError } from "../../errors";
import { KUBELET_ENTRIES, namesBelow, OWN_ENTRIES } from "../../facts/own-entries";
import type { NodeKind } from "../../inputs";
import type { InstallDirs } from "./index";
import type { ProgramValues } from "./program";

/** Name of the unit that `k0s install` makes. */
export function serviceName(role: NodeKind): string {
    return `k0s${role}`;
}

/** Directories as the scripts know them. */
export function dirValues({ dataDir, kubeletRootDir }: InstallDirs): ProgramValues {
    return { DATA_DIR: dataDir, KUBELET_ROOT_DIR: kubeletRootDir ?? "" };
}

/** Names that may lie in these directories when they are removed. */
export function ownEntries(
    { dataDir, kubeletRootDir, put = [] }: InstallDirs & { readonly put?: readonly string[] },
    host: string,
): ProgramValues {
    const below = namesBelow(dataDir, [...put, ...(kubeletRootDir === undefined ? [] : [kubeletRootDir])]);
    return {
        DATA_ENTRIES: lines([...OWN_ENTRIES, ...below], host),
        KUBELET_ENTRIES: lines([...KUBELET_ENTRIES], host),
    };
}

/** A list as the scripts take it: one item a line. Error: an item with a line break. */
export function lines(items: readonly string[], host: string): string {
    const broken = items.find((item) => /[\n\r]/.test(item));
    if (broken === undefined) return items.join("\n");
    throw new InputError({ stage: "preparing a command", host, what: `a line break in ${JSON.stringify(broken)}` });
}

/** The lines of a script's answer that hold something. */
export function linesOf(answer: Buffer): string[] {
    return answer
        .toString()
        .split("\n")
        .filter((line) => line !== "");
}
