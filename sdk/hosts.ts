import type * as pulumi from "@pulumi/pulumi";
import { ProgramError } from "./program-error";
import { sdk } from "./program-sdk";

/** Hosts and the resource that has each, for every run of a program; the Automation API runs many in one process. */
const runs = new WeakMap<object, Map<string, string>>();
const withoutEngine = {};

/**
 * Notes that a resource has this host, and answers the host. Two resources with one host would install and remove each
 * other; the engine would run both. Throws for a known host, fails the registration for one known later.
 */
export function claimHost(host: pulumi.Input<string>, name: string): pulumi.Input<string> {
    const claimed = hostsOfThisRun();
    if (sdk.Output.isInstance(host) || host instanceof Promise) {
        return sdk.output(host).apply((known) => claim(claimed, known, name));
    }
    return claim(claimed, host, name);
}

function claim(claimed: Map<string, string>, host: string, name: string): string {
    // Programs in JavaScript may give anything; `check` says what is wrong with it.
    if (typeof host !== "string") return host;
    const key = host.toLowerCase().replace(/\.$/, "");
    const other = claimed.get(key);
    if (other !== undefined) {
        throw new ProgramError({
            host,
            what: `the resources ${JSON.stringify(other)} and ${JSON.stringify(name)} have the same host`,
            advice: "A machine is one node: give each resource a host of its own, or take one of them out.",
        });
    }
    claimed.set(key, name);
    return host;
}

/** The connection to the engine is one a run. */
function hostsOfThisRun(): Map<string, string> {
    const run = sdk.runtime.getMonitor() ?? withoutEngine;
    const known = runs.get(run) ?? new Map<string, string>();
    runs.set(run, known);
    return known;
}
