import { isIP } from "node:net";
import type { ClusterFacts, NodeObject } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import { normalAddress, sharedAddresses } from "../address";
import { defined } from "../defined";
import { API_SERVER_ANNOTATION } from "./names";

/** How workers reach the API, as the cluster is configured. */
export interface ApiAccess {
    /** `external` and `node-local` depend on no single controller. Default: through the controllers themselves. */
    readonly apiAccess?: "external" | "node-local" | "controllers";
    /** Host of the external address. */
    readonly externalAddress?: string;
}

/**
 * Workers that would lose the API with a controller, or for which nobody knows (safety.md 20), a clause each. The `leaving` are
 * the controller's addresses. The mark on a worker's Node wins over what the cluster is configured for today: a kubelet keeps
 * the server that it joined with.
 */
export function strandedWorkers(cluster: ClusterFacts, leaving: readonly string[], access: ApiAccess = {}): string[] {
    return cluster.nodes
        .filter((node) => isWorker(node, cluster))
        .flatMap((node) => dependence(node, cluster, leaving, access));
}

/** An external address that is a controller's own is no balancer: workers use it as they would use the controller. */
export function accessWithout(own: readonly string[], { apiAccess, externalAddress }: ApiAccess): ApiAccess {
    const isOwn = externalAddress !== undefined && sharedAddresses([externalAddress], own).length > 0;
    return isOwn ? {} : defined({ apiAccess, externalAddress });
}

/**
 * True for a worker whose kubelet was given the address of a controller that the cluster does not have any more: it never comes
 * back by itself. Only for clusters whose workers talk to a controller directly; a name is no proof.
 */
export function usesGoneController({ apiServer }: HostFacts, cluster: ClusterFacts): boolean {
    const server = serverHost(apiServer);
    if (server === undefined || isIP(server) === 0 || isLoopback(server)) return false;
    const { helper, members, controlNodes, nodes } = cluster;
    const known = [
        helper.address,
        ...members.flatMap(({ peerHosts }) => peerHosts),
        ...[...controlNodes, ...nodes.filter((node) => !isWorker(node, cluster))].flatMap(({ addresses }) => addresses),
    ];
    return !known.map(normalAddress).includes(server);
}

function dependence(
    { name, annotations }: NodeObject,
    { helper, resolved = {} }: ClusterFacts,
    leaving: readonly string[],
    { apiAccess = "controllers", externalAddress }: ApiAccess,
): string[] {
    const server = serverHost(annotations[API_SERVER_ANNOTATION]);
    if (server === undefined) {
        return apiAccess === "controllers" ? [`it is not known which API server worker ${name} uses`] : [];
    }
    if (isLoopback(server) || (externalAddress !== undefined && server === normalAddress(externalAddress))) return [];
    const through = `worker ${name} reaches the API through ${server}`;
    const isLeaving = (address: string): boolean => sharedAddresses([address], leaving).length > 0;
    if (isIP(server) !== 0) return isLeaving(server) ? [through] : [];
    const found = resolved[server] ?? [];
    if (found.length === 0) return [`${through}, and ${helper.address} cannot tell where that leads`];
    return found.every(isLeaving) ? [`${through}, which leads to ${found.join(", ")}`] : [];
}

/** Names among the servers that the Nodes are marked with, for which an address has to be found. */
export function serverNames(nodes: readonly Pick<NodeObject, "annotations">[]): string[] {
    const servers = nodes.map(({ annotations }) => serverHost(annotations[API_SERVER_ANNOTATION]));
    const names = servers.filter((server) => server !== undefined && isIP(server) === 0 && !isLoopback(server));
    return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** Node-local: the kubelet's own load balancer. */
function isLoopback(server: string): boolean {
    return server === "localhost" || server === "::1" || /^127\.\d+\.\d+\.\d+$/.test(server);
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
