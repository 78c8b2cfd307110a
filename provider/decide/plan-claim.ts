import type { NodeObject } from "../facts/cluster";
import { isOtherMachine, type Mark, markerOf } from "./identity";
import { annotationOf } from "./plan-common";
import type { LeaveAlone, RemovalSituation } from "./plan-types";
import { type Refusal, refuse } from "./refusal";

/**
 * safety.md 6, for a removal: a node that a newer resource of this state has claimed is left alone; one that somebody else
 * has claimed is not ours to remove. Our own token makes it ours, also where the owner was renamed.
 */
export function checkClaim(
    situation: RemovalSituation,
    node: NodeObject | undefined,
): LeaveAlone | Refusal | undefined {
    const { state, inputs, tokensOfThisProcess = [] } = situation;
    const marks = [markOnHost(situation), annotationOf(node)].filter((mark) => mark !== undefined);
    const newer = marks.find(
        ({ token }) => token !== undefined && token !== state?.token && tokensOfThisProcess.includes(token),
    );
    if (newer !== undefined) {
        return { kind: "leave-alone", why: "its replacement has claimed the machine", lookAgain: false };
    }
    const foreign = marks.find(
        (mark) => mark.owner !== undefined && mark.owner !== inputs.owner && !hasToken(mark, state?.token),
    );
    if (foreign !== undefined) {
        return refuse("the node is not ours", [`it belongs to ${foreign.owner}`], "other-owner");
    }
    const reclaimed = marks.find(
        ({ token }) => token !== undefined && state?.token !== undefined && token !== state.token,
    );
    if (reclaimed === undefined) return undefined;
    return refuse(
        "the node was claimed by another resource after this one made it",
        [`it belongs to ${reclaimed.owner ?? inputs.owner}, under another token than the one in state`],
        "other-owner",
    );
}

function markOnHost({ host, state }: RemovalSituation): Mark | undefined {
    return host === undefined || isOtherMachine(host, state) ? undefined : markerOf(host);
}

function hasToken({ token }: Mark, known: string | undefined): boolean {
    return token !== undefined && token === known;
}
