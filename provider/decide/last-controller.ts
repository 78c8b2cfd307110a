import { defined } from "../defined";
import type { HostFacts } from "../facts/host";
import type { NodeInputs } from "../inputs";
import { refuseForeignContent, refuseOtherDirectories } from "./directories";
import { isOtherMachine, isOurs, markerOf } from "./identity";
import { checkClaim } from "./plan-claim";
import type { LeaveAlone, RemovalSituation } from "./plan-types";
import { type Refusal, refuse } from "./refusal";
import { isHealthy, nodeOf } from "./scenario";

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
    const { role, host, cluster, nodeName, state } = situation;
    if (host === undefined) return refuse("the last controller does not answer", []);
    const claim = checkClaim(situation, nodeOf(host, cluster, nodeName));
    if (claim !== undefined) return claim;
    const { ours, why } = isOurs(host, state, cluster.helper);
    if (!ours) return refuse("the machine is not ours", [why], "other-owner");
    const unsafe = refuseOtherDirectories({ role, host }) ?? refuseForeignContent(host);
    if (unsafe !== undefined) return unsafe;
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

/** What state knows of a node and its cluster. */
export interface Remembered {
    readonly clusterId?: string | undefined;
    readonly machineId?: string | undefined;
    readonly token: string;
}

/**
 * True for the machine of a last controller whose removal of ours was interrupted after it had been stopped: our marker on the
 * machine that state knows says that the cluster ends, and its k0s runs no more. Nobody is left to be asked, and nothing is
 * left to be done but the machine's side.
 */
export function isAfterEnd(host: HostFacts, { clusterId, machineId, token }: Remembered): boolean {
    const marker = markerOf(host);
    if (marker?.operation?.endsCluster !== true) return false;
    if (marker.clusterId !== clusterId || marker.token !== token) return false;
    if (isOtherMachine(host, defined({ machineId }))) return false;
    return !isHealthy(host) && host.units.controller?.active !== "active" && !host.runLockHeld;
}
