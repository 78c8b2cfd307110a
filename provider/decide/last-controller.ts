import type { NodeInputs } from "../inputs";
import { isOurs } from "./identity";
import { checkClaim } from "./plan-claim";
import type { LeaveAlone, RemovalSituation } from "./plan-types";
import { type Refusal, refuse } from "./refusal";
import { nodeOf } from "./scenario";

export type LastRemoval =
    LeaveAlone | Refusal | { readonly kind: "end-cluster"; readonly otherNodes: readonly string[] };

/**
 * Whether the last controller may go, and the cluster with it (safety.md 24): ours, the only member, and asked for in so
 * many words. `otherNodes` must be gone before.
 */
export function planEndOfCluster(
    situation: RemovalSituation,
    { onLastController }: Pick<NodeInputs, "onLastController">,
): LastRemoval {
    const { host, cluster, nodeName, state } = situation;
    if (host === undefined) return refuse("the last controller does not answer", []);
    const claim = checkClaim(situation, nodeOf(host, cluster, nodeName));
    if (claim !== undefined) return claim;
    const { ours, why } = isOurs(host, state, cluster.helper);
    if (!ours) return refuse("the machine is not ours", [why], "other-owner");
    if (cluster.members.length !== 1) return refuse("it is not the only etcd member", [], "quorum");
    if (onLastController !== "reset") {
        return refuse(
            'it is the last controller: its removal ends the cluster and everything in it; onLastController is not "reset"',
            [],
            "quorum",
        );
    }
    const otherNodes = cluster.nodes.map(({ name }) => name).filter((name) => name !== nodeName);
    return { kind: "end-cluster", otherNodes };
}
