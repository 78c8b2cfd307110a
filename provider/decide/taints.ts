import type { NodeObject, NodeTaint } from "../facts/cluster";
import { TAINTS_ANNOTATION } from "./names";

/** What is to be written to the Node; undefined: nothing. */
export interface TaintsChange {
    readonly taints: readonly NodeTaint[] | undefined;
    /** Of `TAINTS_ANNOTATION`. */
    readonly annotation: string | null | undefined;
}

/**
 * The Node's taints as the program wants them. Of those that it no longer names, only the program's own go: noted on the Node,
 * or named by it before (`previous`). `all`: every one that it names is set, as after a change of the input; without it, only
 * those that were on the Node before, because taking a node over must not evict its pods.
 */
export function taintsAfter(
    { taints: found, annotations }: Pick<NodeObject, "taints" | "annotations">,
    {
        wanted,
        previous,
        all,
    }: { readonly wanted: readonly string[]; readonly previous: readonly string[]; readonly all: boolean },
): TaintsChange {
    const noted = notedIn(annotations);
    const isOurs = (taint: NodeTaint): boolean =>
        all || noted.includes(identityOf(taint)) || found.some((one) => isSameTaint(one, taint));
    const ours = wanted.map(parseTaint).filter(isOurs);
    const identities = ours.map(identityOf);
    const earlier = [...noted, ...previous.map(parseTaint).map(identityOf)];
    const isKept = (taint: NodeTaint): boolean =>
        identities.includes(identityOf(taint))
            ? ours.some((one) => isSameTaint(one, taint))
            : !earlier.includes(identityOf(taint));
    const kept = found.filter(isKept);
    const added = ours.filter((taint) => !kept.some((one) => isSameTaint(one, taint)));
    const annotation = ours.length === 0 ? null : identities.join(",");
    return {
        taints: kept.length === found.length && added.length === 0 ? undefined : [...kept, ...added],
        annotation: (annotations[TAINTS_ANNOTATION] ?? null) === annotation ? undefined : annotation,
    };
}

/** Taints of the program's that somebody took off the Node, or gave another value, a clause each. */
export function taintDrift(node: NodeObject | undefined, wanted: readonly string[]): string[] {
    if (node === undefined) return [];
    const noted = notedIn(node.annotations);
    return wanted
        .map(parseTaint)
        .filter((taint) => noted.includes(identityOf(taint)) && !node.taints.some((one) => isSameTaint(one, taint)))
        .map((taint) => `taint ${identityOf(taint)} of Node ${node.name} is not as the program says`);
}

function notedIn(annotations: NodeObject["annotations"]): string[] {
    return annotations[TAINTS_ANNOTATION]?.split(",") ?? [];
}

/** `key=value:Effect` or `key:Effect`. */
export function parseTaint(text: string): NodeTaint {
    const [, key = "", value, effect = ""] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(text) ?? [];
    return { key, effect, ...(value === undefined || value === "" ? {} : { value }) };
}

function identityOf({ key, effect }: NodeTaint): string {
    return `${key}:${effect}`;
}

function isSameTaint(a: NodeTaint, b: NodeTaint): boolean {
    return identityOf(a) === identityOf(b) && (a.value ?? "") === (b.value ?? "");
}
