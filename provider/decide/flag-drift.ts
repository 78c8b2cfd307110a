import type { HostMarker } from "../facts/host";
import { namesIn, normalFlags, splitFlag, valuesOf } from "../flags";
import { KUBELET_EXTRA_ARGS } from "./unit-flags";

/**
 * What of the service's arguments is the program's, as it is spelled there: k0s rewrites some values when it is installed. To be
 * noted once it was given them, so that a later look can tell what somebody took out.
 */
export function givenFlags(args: readonly string[], installFlags: readonly string[]): string[] {
    const ours = valuesOf(installFlags, KUBELET_EXTRA_ARGS).flatMap((value) => value.split(" "));
    const names = namesIn(installFlags);
    return inParts(args).filter((arg) => {
        const { name, value } = splitFlag(arg);
        return names.includes(name) && (name !== KUBELET_EXTRA_ARGS || ours.includes(value));
    });
}

/** Names of flags of the program's that the service has no more, or with another value; never their values. */
export function lostFlags(
    marker: HostMarker | undefined,
    args: readonly string[] | undefined,
    installFlags: readonly string[],
): string[] {
    // A change that did not end is drift of its own, and says nothing about anybody's hand.
    if (marker?.flags === undefined || marker.operation !== undefined || args === undefined) return [];
    const found = normalFlags(inParts(args));
    const named = namesIn(installFlags);
    const lost = marker.flags.filter((flag) => !normalFlags([flag]).every((one) => found.includes(one)));
    return [...new Set(namesIn(lost))].filter((name) => named.includes(name));
}

/** The list of kubelet's arguments is everybody's: each part is its giver's. */
function inParts(args: readonly string[]): string[] {
    return args.flatMap((arg) => {
        const { name, value } = splitFlag(arg);
        return name === KUBELET_EXTRA_ARGS ? value.split(" ").map((part) => `${name}=${part}`) : [arg];
    });
}
