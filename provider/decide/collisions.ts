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
    return [
        ...nodes
            .filter((node) => node.name === nodeName && !isNodeOf(host, node))
            .map((node) => `Node ${node.name} belongs to the machine at ${node.addresses.join(", ")}`),
        ...etcdMembers
            .filter(({ name, peerAddress }) => names.includes(name) && isElsewhere(peerAddress ? [peerAddress] : []))
            .map(({ name, peerAddress }) => `EtcdMember ${name} belongs to ${peerAddress}`),
        ...controlNodes
            .filter((object) => names.includes(object.name) && isElsewhere(object.addresses))
            .map((object) => `ControlNode ${object.name} belongs to ${object.addresses.join(", ")}`),
    ];
}
