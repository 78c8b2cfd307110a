import { defined } from "../defined";
import type { NodeObject } from "../facts/cluster";
import { markerOf, ownership } from "./identity";
import type { Scenario } from "./matrix";
import { CORDON_ANNOTATION } from "./names";
import { annotationOf } from "./plan-common";
import { failing, QUIET, type Repair, type RepairSituation } from "./repair-plan";
import { nodeOf } from "./scenario";
import { taintDrift } from "./taints";

/** Marks matter where there is a node that could be somebody else's (safety.md 6). */
export function repairMarks(situation: RepairSituation, scenario: Scenario): Repair {
    const { host, cluster, nodeName, state, owner } = situation;
    const nothing: Repair = { ...QUIET, drift: [], action: "nothing" };
    if (![2, 3, 4, 6, 7].includes(scenario)) return nothing;
    const marker = markerOf(host);
    const node = nodeOf(host, cluster, nodeName);
    const annotation = annotationOf(node);
    const claim = { owner, adopt: "unmarked", ...defined({ token: state.token }) } as const;
    const { whose, token, why } = ownership(marker, annotation, claim);
    if (whose === "other") return failing([why.replace(/, and adopt.*$/, "")], "other-owner");
    const cordon = cordonDrift(node);
    const drift = [
        ...(token === "other" ? ["the node is marked with another token than the one in state"] : []),
        ...(marker === undefined ? ["the host does not carry our marker"] : []),
        ...(annotation !== undefined && annotation.owner === undefined
            ? [`Node ${nodeName} does not carry our mark`]
            : []),
        ...cordon,
        ...labelDrift(node, situation.labels),
        ...taintDrift(node, situation.taints),
    ];
    return drift.length === 0 ? nothing : { drift, action: "reclaim", uncordon: cordon.length > 0, lookAgain: false };
}

/**
 * Somebody else's cordon is their business, and no drift. Our mark on a Node that is not cordoned means nothing, and goes before
 * a later cordon of somebody else's is taken for ours.
 */
function cordonDrift(node: NodeObject | undefined): string[] {
    if (node?.annotations[CORDON_ANNOTATION] === undefined) return [];
    return node.unschedulable
        ? [`Node ${node.name} is still cordoned by an operation of ours that was interrupted`]
        : [`Node ${node.name} carries the mark of a cordon of ours that is no more`];
}

/** A Node that is missing has drift of its own. */
function labelDrift(node: NodeObject | undefined, wanted: RepairSituation["labels"]): string[] {
    if (node === undefined) return [];
    const differing = Object.entries(wanted).filter(([key, value]) => node.labels[key] !== value);
    return differing.map(([key, value]) => {
        const found = node.labels[key];
        const is = found === undefined ? "missing" : `${JSON.stringify(found)}, not ${JSON.stringify(value)}`;
        return `label ${key} of Node ${node.name} is ${is}`;
    });
}
