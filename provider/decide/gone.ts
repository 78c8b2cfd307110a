import type { ClusterFacts } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import { addressesOf, sharedAddresses } from "../address";
import type { KnownNode } from "./plan-types";

export interface GoneSituation {
    /** undefined: unreachable, which is not gone. */
    readonly host: HostFacts | undefined;
    readonly cluster: ClusterFacts;
    readonly nodeName: string;
    readonly peerAddress: string;
    readonly state: KnownNode;
}

/** Gone from the host and from the cluster: only then does a refresh drop the resource (architecture.md, "drift"). */
export function isGone(situation: GoneSituation): boolean {
    return situation.host !== undefined && isBlank(situation.host) && !isInCluster(situation, situation.host);
}

function isBlank({ units, data }: HostFacts): boolean {
    const hasUnit = units.controller !== undefined || units.worker !== undefined;
    return !hasUnit && !data.pki && !data.etcdMember && !data.kubeletConf;
}

function isInCluster({ cluster, nodeName, peerAddress, state }: GoneSituation, host: HostFacts): boolean {
    const addresses = [...addressesOf(host), peerAddress];
    const isMember = cluster.members.some(({ id, peerHosts }) => id === state.memberId || shares(peerHosts, addresses));
    const hasObject = cluster.etcdMembers.some(
        ({ memberId, peerAddress: address }) =>
            (memberId !== undefined && memberId === state.memberId) ||
            (address !== undefined && shares([address], addresses)),
    );
    const hasNode = cluster.nodes.some(({ name, addresses: own }) => name === nodeName || shares(own, addresses));
    const hasControlNode = cluster.controlNodes.some(({ addresses: own }) => shares(own, addresses));
    return isMember || hasObject || hasNode || hasControlNode;
}

function shares(some: readonly string[], others: readonly string[]): boolean {
    return sharedAddresses(some, others).length > 0;
}
