import { isIP } from "node:net";
import type { ClusterFacts, NodeObject } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import { normalAddress, sharedAddresses } from "../address";
import { API_SERVER_ANNOTATION } from "./names";

/**
 * Workers that would lose the API with a controller, or for which nobody knows (safety.md 20), a clause each. `leaving` are
 * the controller's addresses. Only for clusters whose workers talk to a controller directly.
 */
export function strandedWorkers(cluster: ClusterFacts, leaving: readonly string[]): string[] {
    return cluster.nodes.filter((node) => isWorker(node, cluster)).flatMap((node) => dependence(node, leaving));
}

/**
 * True for a worker whose kubelet was given the address of a controller that the cluster does not have any more: it never comes
 * back by itself. Only for clusters whose workers talk to a controller directly; a name is no proof.
 */
export function usesGoneController({ apiServer }: HostFacts, cluster: ClusterFacts): boolean {
    const server = serverHost(apiServer);
    if (server === undefined || isIP(server) === 0) return false;
    const { helper, members, controlNodes, nodes } = cluster;
    const known = [
        helper.address,
        ...members.flatMap(({ peerHosts }) => peerHosts),
        ...[...controlNodes, ...nodes.filter((node) => !isWorker(node, cluster))].flatMap(({ addresses }) => addresses),
    ];
    return !known.map(normalAddress).includes(server);
}

function dependence({ name, annotations }: NodeObject, leaving: readonly string[]): string[] {
    const server = serverHost(annotations[API_SERVER_ANNOTATION]);
    if (server === undefined) return [`it is not known which API server worker ${name} uses`];
    return leaving.map(normalAddress).includes(server) ? [`worker ${name} reaches the API through ${server}`] : [];
}

function serverHost(url: string | undefined): string | undefined {
    if (url === undefined || !URL.canParse(url)) return undefined;
    return normalAddress(new URL(url).hostname);
}

function isWorker({ name, addresses }: NodeObject, { controlNodes, members }: ClusterFacts): boolean {
    const peers = members.flatMap((member) => member.peerHosts);
    const isControl = controlNodes.some((object) => object.name === name);
    return !isControl && sharedAddresses(addresses, peers).length === 0;
}
