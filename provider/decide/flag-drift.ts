import { isDeepStrictEqual } from "node:util";
import type { HostMarker, NodeSettings } from "../facts/host";
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

/** Names of flags of the program's that somebody took out of the service, or gave another value; never their values. */
export function lostFlags(
    marker: HostMarker | undefined,
    args: readonly string[] | undefined,
    installFlags: readonly string[],
): string[] {
    // A change that did not end is drift of its own, and says nothing about anybody's hand.
    return marker?.operation === undefined ? missingFlags(marker, args, installFlags) : [];
}

/** The same where a change of ours may be the reason as well. */
export function missingFlags(
    marker: HostMarker | undefined,
    args: readonly string[] | undefined,
    installFlags: readonly string[],
): string[] {
    if (marker?.flags === undefined || args === undefined) return [];
    const found = normalFlags(inParts(args));
    const named = namesIn(installFlags);
    const lost = marker.flags.filter((flag) => !normalFlags([flag]).every((one) => found.includes(one)));
    return [...new Set(namesIn(lost))].filter((name) => named.includes(name));
}

/**
 * What the program said before, as if it had not named yet what is missing, so that it is given back. A flag that the program
 * changes as well stays: that is a change already, and its old value tells which parts of a list are to go. `given`: the flags
 * of now, and those of a change that did not end.
 */
export function withoutMissing(
    before: NodeSettings,
    given: readonly (readonly string[])[],
    missing: readonly string[],
): NodeSettings {
    const { installFlags } = before;
    const unnamed = missing.filter((name) =>
        given.every((flags) => isDeepStrictEqual(valuesOf(installFlags, name), valuesOf(flags, name))),
    );
    return { ...before, installFlags: installFlags.filter((flag) => !unnamed.includes(splitFlag(flag).name)) };
}

/** The list of kubelet's arguments is everybody's: each part is its giver's. */
function inParts(args: readonly string[]): string[] {
    return args.flatMap((arg) => {
        const { name, value } = splitFlag(arg);
        return name === KUBELET_EXTRA_ARGS ? value.split(" ").map((part) => `${name}=${part}`) : [arg];
    });
}
