import type { Member, NodeObject } from "../facts/cluster";
import { addressesOf, sharedAddresses } from "../address";
import type { RemovalSituation } from "./plan-types";

/** The Node of another machine that has the address now: what goes by the address is its by now. */
export function successorOf({ state, cluster, inputs, peerAddress }: RemovalSituation): NodeObject | undefined {
    const addresses = [peerAddress, inputs.host ?? peerAddress];
    return cluster.nodes.find(
        (node) => isAnothers(node, state) && sharedAddresses(node.addresses, addresses).length > 0,
    );
}

/**
 * True for the etcd member of a machine that came after: the one that answers and is not the one in state, or that of a Node at
 * the member's address.
 */
export function isOfAnotherMachine({ peerHosts }: Member, { host, state, cluster }: RemovalSituation): boolean {
    if (host !== undefined && sharedAddresses(peerHosts, addressesOf(host)).length > 0) return true;
    const nodes = cluster.nodes.filter(({ addresses }) => sharedAddresses(peerHosts, addresses).length > 0);
    return nodes.some((node) => isAnothers(node, state));
}

function isAnothers({ machineId }: NodeObject, state: RemovalSituation["state"]): boolean {
    return machineId !== "" && state?.machineId !== undefined && machineId !== state.machineId;
}
