import { sharedAddresses } from "../address";
import { RefusedError } from "../errors";
import { memberIdToHex } from "./cluster";
import { hostOf } from "./cluster-view";
import type { ClusterConnection } from "./controller";

export const FINDING_HELPER = "finding a controller to work through";

/** What a controller says its cluster is: one restored alone keeps CA and UID, and has an etcd cluster of its own. */
interface Testimony {
    readonly connection: ClusterConnection;
    /** Names of etcd's members, as this one's own etcd lists them. */
    readonly members: readonly string[];
    /** Where the controller is known to be. */
    readonly addresses: readonly string[];
}

/**
 * The first of the controllers, if all of them are of one cluster (safety.md 1); the others are closed. The target may be among
 * them under an address that nobody knew for its own: where they disagree, `targetAddresses` is asked, and its word does not
 * count. undefined: none is left. Fails with a RefusedError that names each of them.
 */
export async function agreed(
    connections: readonly ClusterConnection[],
    targetAddresses: () => Promise<readonly string[]>,
): Promise<ClusterConnection | undefined> {
    if (isOne(connections)) return keepFirst(connections, connections);
    const said = await Promise.all(connections.map(testify));
    const own = await targetAddresses().catch(() => []);
    const others = said.filter(({ addresses }) => sharedAddresses(addresses, own).length === 0);
    const left = others.map(({ connection }) => connection);
    if (isOne(left)) return keepFirst(left, connections);
    closeAll(connections);
    throw disagreement(others);
}

function isOne(connections: readonly ClusterConnection[]): boolean {
    return new Set(connections.map(identityOf)).size <= 1;
}

function keepFirst(
    [first]: readonly ClusterConnection[],
    all: readonly ClusterConnection[],
): ClusterConnection | undefined {
    closeAll(all.filter((one) => one !== first));
    return first;
}

function closeAll(connections: readonly ClusterConnection[]): void {
    for (const connection of connections) connection.close();
}

async function testify(connection: ClusterConnection): Promise<Testimony> {
    const { helper, helperFacts, etcd } = connection;
    const members = await etcd.members().then(
        (answer) => answer.members,
        () => [],
    );
    const own = members.filter(({ id }) => id === helperFacts.memberId).flatMap(({ peerUrls }) => peerUrls.map(hostOf));
    const names = members.map(({ id, name }) => name || memberIdToHex(id)).sort();
    return { connection, members: names, addresses: [helper.address, ...own] };
}

function identityOf({ helperFacts: { clusterId, caFingerprint, etcdClusterId } }: ClusterConnection): string {
    return `${clusterId} ${caFingerprint} ${etcdClusterId}`;
}

function disagreement(said: readonly Testimony[]): RefusedError {
    const names = said.map(({ connection: { helperFacts: facts } }) => `${facts.clusterId} ${facts.caFingerprint}`);
    const sameName = new Set(names).size === 1;
    return new RefusedError({
        stage: FINDING_HELPER,
        what: sameName
            ? "the controllers serve different etcd clusters, of one CA and one kube-system UID"
            : "the controllers belong to different clusters",
        output: said.map(describe).join("\n"),
        advice: sameName
            ? "One was restored or started apart from the others. The right one lists all controllers as members and has the " +
              "Nodes that are Ready (`k0s kubectl get nodes` on each). Stop k0s on the other (`k0s stop`), or take it out of " +
              "`cluster.controllers`. Nothing was changed."
            : "Name controllers of one cluster only, or say which cluster is meant with `cluster.id`. Nothing was changed.",
        topic: "second-cluster",
    });
}

function describe({ connection, members }: Testimony): string {
    const { address, clusterId, caFingerprint, etcdClusterId } = connection.helperFacts;
    const list = members.length === 0 ? "that does not answer any more" : `of ${members.join(", ")}`;
    return `${address} has cluster ${clusterId}, CA ${caFingerprint}, etcd ${memberIdToHex(etcdClusterId)} ${list}`;
}
