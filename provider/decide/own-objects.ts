import { addressesOf, normalAddress, sharedAddresses } from "../address";
import type { ControlNodeObject, NodeObject } from "../facts/cluster";
import { isOtherMachine } from "./identity";
import { objectNameOf } from "./names";
import type { RemovalSituation, Situation } from "./plan-types";
import { isNodeOf } from "./scenario";

/** False for a host that does not answer, or is another machine by now: then only the cluster's side is done. */
export function hasHost(situation: RemovalSituation): situation is RemovalSituation & Situation {
    return situation.host !== undefined && !isOtherMachine(situation.host, situation.state);
}

export function subjectAddresses({ host, peerAddress, state }: RemovalSituation): string[] {
    const own = host === undefined || isOtherMachine(host, state) ? [] : addressesOf(host);
    return [...new Set([normalAddress(peerAddress), ...own])];
}

/** The Node of that name, if it is this node's: by the machine that answers or that state knows, else by address. */
export function nodeObject(situation: RemovalSituation): NodeObject | undefined {
    const { host, state, cluster, nodeName } = situation;
    const node = cluster.nodes.find((candidate) => candidate.name === nodeName);
    if (node === undefined) return undefined;
    if (hasHost(situation) && isNodeOf(situation.host, node)) return node;
    if (node.machineId !== "" && node.machineId === state?.machineId) return node;
    const isUnknown = node.machineId === "" || (host === undefined && state?.machineId === undefined);
    return isUnknown && sharedAddresses(node.addresses, subjectAddresses(situation)).length > 0 ? node : undefined;
}

/**
 * k0s names it after the host, as it does the EtcdMember, whose address is the peer's; its own may be a balancer's, or one that
 * moves between the controllers.
 */
export function controlNodeObject(situation: RemovalSituation): ControlNodeObject | undefined {
    const { host, nodeName, cluster } = situation;
    const addresses = subjectAddresses(situation);
    const isHere = (own: readonly string[]): boolean => sharedAddresses(own, addresses).length > 0;
    const twins = cluster.etcdMembers.filter(({ peerAddress }) => peerAddress !== undefined && isHere([peerAddress]));
    const byMember = cluster.controlNodes.find(({ name }) => twins.some((twin) => twin.name === name));
    if (byMember !== undefined) return byMember;
    const byAddress = cluster.controlNodes.find((object) => isHere(object.addresses));
    if (byAddress !== undefined) return byAddress;
    const names = [nodeName, ...(host === undefined ? [] : [objectNameOf(host)])];
    return cluster.controlNodes.find(({ name, addresses: own }) => names.includes(name) && own.length === 0);
}
