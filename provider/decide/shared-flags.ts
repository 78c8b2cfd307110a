import { splitFlag } from "../flags";
import type { Role } from "../inputs";

/**
 * Flags that all controllers of a cluster must share, with the page of the k0s documentation (v1.36.3) that says so. All other
 * flags are a node's own. Those of cloud providers: cloud-provider.ts.
 */
const SHARED: Readonly<Record<string, { readonly takesValue: boolean }>> = {
    // dynamic-configuration.md: "on every controller in the cluster"
    "--enable-dynamic-config": { takesValue: false },
    // feature-gates.md: "must be consistent across all controllers in the cluster"
    "--feature-gates": { takesValue: true },
    // configuration.md, "Disabling controller components": each controller applies what it does not disable to the cluster
    "--disable-components": { takesValue: true },
    // system-monitoring.md: what collects the metrics is the cluster's, and each controller has to feed it
    "--enable-metrics-scraper": { takesValue: false },
    // k0s-multi-node.md: "identical for all controller nodes"; whichever leads acts on the cluster with its own
    "--kube-controller-manager-extra-args": { takesValue: true },
};

export interface SharedFlagFacts {
    /** argv of the helper's k0s. */
    readonly helperArgs: readonly string[];
    /** What the program gives itself; its word counts. */
    readonly installFlags: readonly string[];
}

/** Those that a joiner gets from the helper, for `k0s install`. */
export function sharedFlags({ helperArgs, installFlags, role }: SharedFlagFacts & { readonly role: Role }): string[] {
    if (role === "worker") return [];
    const own = sharedIn(installFlags);
    return [...sharedIn(helperArgs)].flatMap(([name, values]) =>
        own.has(name) ? [] : values.map((value) => (value === "true" ? name : `${name}=${value}`)),
    );
}

/** Names of those that a running controller and the helper have differently, where the program does not say so. */
export function differingFlags(ownArgs: readonly string[], { helperArgs, installFlags }: SharedFlagFacts): string[] {
    const [here, there, meant] = [sharedIn(ownArgs), sharedIn(helperArgs), sharedIn(installFlags)];
    return Object.keys(SHARED).filter((name) => !meant.has(name) && inOneWord(here, name) !== inOneWord(there, name));
}

/** The order of a list says nothing, nor does a flag that is given twice; absent is off. */
function inOneWord(flags: ReadonlyMap<string, readonly string[]>, name: string): string {
    const parts = (flags.get(name) ?? []).flatMap((value) => value.split(","));
    const isOff = parts.length === 1 && parts[0] === "false";
    return isOff ? "" : [...new Set(parts)].sort().join(",");
}

/** By name; a unit that somebody wrote may hold a value in a word of its own. */
function sharedIn(args: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, readonly string[]>();
    args.forEach((arg, at) => {
        const { name, value } = splitFlag(arg);
        const flag = SHARED[name];
        if (flag === undefined) return;
        const isApart = flag.takesValue && !arg.includes("=");
        const given = isApart ? args[at + 1] : value;
        if (given !== undefined) found.set(name, [...(found.get(name) ?? []), given]);
    });
    return found;
}
