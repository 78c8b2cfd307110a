import type { ClusterFacts } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import { isOtherMachine } from "./identity";
import { planAdd } from "./plan-add";
import { planRemove } from "./plan-remove";
import type { LeaveAlone, RemovalSituation, RemovePlan } from "./plan-types";
import type { Refusal } from "./refusal";

/** What the node is called, and where, once it is added again. */
export interface Again {
    readonly nodeName: string;
    readonly peerAddress: string;
}

/**
 * How to take out what is left of a node that is then added again under the same lock (safety.md 12), or why not. Refused as
 * well where the add would be refused afterwards: nothing is removed that could not come back. The machine may be a new one.
 */
export function planRebuild(
    situation: RemovalSituation & { readonly host: HostFacts },
    { nodeName, peerAddress }: Again,
): RemovePlan | LeaveAlone | Refusal {
    const removal = planRemove(situation);
    if (removal.kind !== "remove") return removal;
    const { host, inputs, role, state } = situation;
    const cleaned = removal.steps.machine === "none" ? host : blank(host);
    const addition = planAdd({
        role,
        inputs,
        host: cleaned,
        cluster: without(situation.cluster, removal),
        nodeName,
        peerAddress,
        ...(state?.token === undefined ? {} : { state: { token: state.token } }),
    });
    if (addition.kind === "refuse") return { ...addition, what: `it cannot be added again: ${addition.what}` };
    const joins = addition.steps.kind === "join" && addition.undo === undefined;
    if (joins) return removal;
    const what = `it cannot be rebuilt: ${isOtherMachine(host, state) ? "the new machine" : "the host"} is not blank`;
    return { kind: "refuse", what, evidence: [], topic: "broken-installation", lookAgain: removal.lookAgain };
}

/** The host as a reset leaves it. */
function blank(host: HostFacts): HostFacts {
    const { dir, exists, foreign, foreignKubelet } = host.data;
    const empty = { pki: false, etcdDatabase: false, etcdMember: false, kubeletConf: false };
    return {
        ...host,
        units: { controller: undefined, worker: undefined },
        status: { state: "silent", reason: "no socket" },
        runLockHeld: false,
        ca: { pki: undefined, kubelet: undefined, unreadable: false },
        data: { dir, exists, foreign, foreignKubelet, ...empty },
        tokenFile: "absent",
        marker: undefined,
    };
}

/** The cluster once the removal has ended. */
function without(cluster: ClusterFacts, { member, object, node, controlNode }: RemovePlan): ClusterFacts {
    return {
        ...cluster,
        members: cluster.members.filter(({ id }) => id !== member?.id),
        etcdMembers: cluster.etcdMembers.filter(({ uid }) => uid !== object?.uid),
        nodes: cluster.nodes.filter(({ uid }) => uid !== node?.uid),
        controlNodes: cluster.controlNodes.filter(({ uid }) => uid !== controlNode?.uid),
    };
}
