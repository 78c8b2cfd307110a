import type { ClusterFacts } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import { addressesOf, sharedAddresses } from "../address";
import { objectNameOf } from "./names";
import { isNodeOf } from "./scenario";

/** Objects under the new node's names that belong to another machine (safety.md 5), a clause each. */
export function nameCollisions(
    host: HostFacts,
    { nodes, etcdMembers, controlNodes }: ClusterFacts,
    nodeName: string,
): string[] {
    const names = [nodeName, objectNameOf(host)];
    const addresses = addressesOf(host);
    const isElsewhere = (others: readonly string[]): boolean =>
        others.length > 0 && sharedAddresses(others, addresses).length === 0;
    // Its address is `spec.api.address`, which may be a balancer's (k0s 1.36.3, setup.go); k0s names both objects alike.
    const isMemberHere = (object: string): boolean =>
        etcdMembers.some(
            ({ name, peerAddress }) =>
                name === object && peerAddress !== undefined && sharedAddresses([peerAddress], addresses).length > 0,
        );
    return [
        ...nodes
            .filter((node) => node.name === nodeName && !isNodeOf(host, node))
            .map((node) => `Node ${node.name} belongs to the machine at ${node.addresses.join(", ")}`),
        ...etcdMembers
            .filter(({ name, peerAddress }) => names.includes(name) && isElsewhere(peerAddress ? [peerAddress] : []))
            .map(({ name, peerAddress }) => `EtcdMember ${name} belongs to ${peerAddress}`),
        ...controlNodes
            .filter(({ name, addresses: own }) => names.includes(name) && isElsewhere(own) && !isMemberHere(name))
            .map(({ name, addresses: own }) => `ControlNode ${name} belongs to ${own.join(", ")}`),
    ];
}
