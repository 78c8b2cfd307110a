import { isDeepStrictEqual } from "node:util";
import type { NodeSettings } from "../facts/host";
import { namesIn, splitFlag, valuesOf } from "../flags";

/** What of them is in the command line of k0s's service. */
export type UnitSettings = Pick<NodeSettings, "installFlags" | "taints">;

/** What the service is to be started with. */
export interface UnitChange {
    readonly args: readonly string[];
    /** False where kubelet reads what changed only when it registers a fresh Node. */
    readonly needsRestart: boolean;
    /** Flags that the program no longer names and that stay: their values in the unit are somebody else's. */
    readonly kept: readonly string[];
}

const TAINTS = "--taints";
export const KUBELET_EXTRA_ARGS = "--kubelet-extra-args";
/** `k0s install` writes these lists as one flag, whoever gave their parts: each part is its giver's. */
const SEPARATORS: Readonly<Record<string, string>> = { [TAINTS]: ",", [KUBELET_EXTRA_ARGS]: " " };
/** They become lines of the unit, not arguments. */
const ENVIRONMENT = ["--env", "-e"];

/**
 * The arguments of the running service with the program's changes and no other: what somebody else put there stays, and so
 * do the token file, the directories and the cluster's own flags. `args`: argv without the program. `before`: what the program
 * may have set earlier; several where an earlier change did not end. A flag that the program names wins over any value that
 * is there; one that it names no longer goes only where its value is the program's.
 */
export function unitAfter(args: readonly string[], before: readonly UnitSettings[], after: UnitSettings): UnitChange {
    const earlier = before.map(flagsOf);
    const wanted = flagsOf(after);
    const names = [...new Set([...earlier.flatMap(namesIn), ...namesIn(wanted)])];
    const kept: string[] = [];
    let result = args;
    for (const name of names) {
        const separator = SEPARATORS[name];
        const olds = earlier.map((flags) => valuesOf(flags, name));
        const news = valuesOf(wanted, name);
        if (olds.every((old) => isDeepStrictEqual(old, news))) continue;
        if (separator !== undefined) {
            result = withParts(result, name, separator, olds.flat(), news);
        } else if (news.length > 0) {
            result = withValues(result, name, news);
        } else if (olds.some((old) => isSame(valuesOf(result, name), old))) {
            result = result.filter((arg) => splitFlag(arg).name !== name);
        } else if (valuesOf(result, name).length > 0) kept.push(name);
    }
    const changed = changedNames(args, result);
    return {
        args: isDeepStrictEqual(result, args) ? args : result,
        needsRestart: changed.some((name) => name !== TAINTS),
        kept,
    };
}

/** Flags among these that no change of an installed service can carry out. */
export function unchangeableFlags(before: readonly UnitSettings[], after: UnitSettings): string[] {
    const hasChanged = (name: string): boolean =>
        before.some(({ installFlags }) => !isSame(valuesOf(installFlags, name), valuesOf(after.installFlags, name)));
    return ENVIRONMENT.filter(hasChanged);
}

function flagsOf({ installFlags, taints }: UnitSettings): string[] {
    return [...installFlags, ...(taints.length === 0 ? [] : [`${TAINTS}=${taints.join(",")}`])];
}

/** `k0s install` joins what was given twice. */
function isSame(inUnit: readonly string[], given: readonly string[]): boolean {
    return inUnit.join(",") === given.join(",") && inUnit.length > 0 === given.length > 0;
}

/** In the place of the first of that name, else at the end. Left alone where it is there already, in whatever spelling. */
function withValues(args: readonly string[], name: string, values: readonly string[]): readonly string[] {
    if (isSame(valuesOf(args, name), values)) return args;
    const flags = values.map((value) => `${name}=${value}`);
    const at = args.findIndex((arg) => splitFlag(arg).name === name);
    const rest = args.filter((arg) => splitFlag(arg).name !== name);
    return at < 0 ? [...rest, ...flags] : [...rest.slice(0, at), ...flags, ...rest.slice(at)];
}

function withParts(
    args: readonly string[],
    name: string,
    separator: string,
    olds: readonly string[],
    news: readonly string[],
): readonly string[] {
    const parts = (values: readonly string[]): string[] =>
        values.flatMap((value) => value.split(separator)).filter((part) => part !== "");
    const [ours, wanted, found] = [parts(olds), parts(news), parts(valuesOf(args, name))];
    const stay = found.filter((part) => !ours.includes(part) || wanted.includes(part));
    const result = [...stay, ...wanted.filter((part) => !stay.includes(part))];
    if (isDeepStrictEqual(result, found)) return args;
    if (result.length === 0) return args.filter((arg) => splitFlag(arg).name !== name);
    return withValues(args, name, [result.join(separator)]);
}

function changedNames(before: readonly string[], after: readonly string[]): string[] {
    const names = [...new Set([...namesIn(before), ...namesIn(after)])];
    return names.filter((name) => !isDeepStrictEqual(valuesOf(before, name), valuesOf(after, name)));
}
