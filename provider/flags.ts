import { isDeepStrictEqual } from "node:util";

/** `k0s install` writes the long names (k0s 1.36.3, its source). */
const LONG_NAMES: Readonly<Record<string, string>> = { "-d": "--debug", "-v": "--verbose", "-l": "--logging" };

/** The same flags, each with its value; `--flag` and `--flag=true` are one flag. Their order counts: some may be given twice. */
export function normalFlags(flags: readonly string[]): string[] {
    return flags.map((flag) => {
        const { name, value } = splitFlag(flag);
        return `${name}=${value}`;
    });
}

/** True where both name the same flags: the order counts only among flags of one name. */
export function sameFlags(before: readonly string[], after: readonly string[]): boolean {
    const names = new Set([...namesIn(before), ...namesIn(after)]);
    return [...names].every((name) => isDeepStrictEqual(valuesOf(before, name), valuesOf(after, name)));
}

/** `--name=value`, or `--name` alone, which is true. */
export function splitFlag(flag: string): { readonly name: string; readonly value: string } {
    const [, given = flag, value = "true"] = /^(-[^=]*)(?:=([\s\S]*))?$/.exec(flag) ?? [];
    return { name: LONG_NAMES[given] ?? given, value };
}

export function namesIn(flags: readonly string[]): string[] {
    return flags.map((flag) => splitFlag(flag).name);
}

export function valuesOf(flags: readonly string[], name: string): string[] {
    return flags.map(splitFlag).flatMap((flag) => (flag.name === name ? [flag.value] : []));
}

/**
 * Addresses that the program names for the node, the primary one first: `privateAddress`, else the kubelet's `--node-ip` among
 * flags of k0s. Two are one of each family.
 */
export function nodeIps(inputs: {
    readonly privateAddress?: string;
    readonly installFlags?: readonly string[];
}): string[] {
    const { privateAddress, installFlags = [] } = inputs;
    const given = privateAddress ?? /--node-ip[=\s]+(?<ips>[^\s"']+)/.exec(installFlags.join(" "))?.groups?.["ips"];
    return given?.split(",") ?? [];
}

/** Value of the kubelet's `--hostname-override` among flags of k0s, e.g. `--kubelet-extra-args=--hostname-override=w1`. */
export function hostnameOverride(flags: readonly string[]): string | undefined {
    return /--hostname-override[=\s]+["']?(?<name>[^\s"']+)/.exec(flags.join(" "))?.groups?.["name"];
}
