import { isIP } from "node:net";
import type { Kube, LeaseObject } from "../adapters/kube";
import { normalAddress, sharedAddresses } from "../address";
import { before, type Deadline } from "../deadline";
import { TimeoutError } from "../errors";
import type { ClusterFacts, ControlNodeObject, Member, MemberHealth } from "./cluster";
import type { ClusterConnection } from "./controller";
import { type EtcdMemberSeen, readMembers } from "./members";

/**
 * Milliseconds for one answer of a member's API server. A hung etcd answers 500 after 2 s (observed.md); a host without CPU to
 * spare takes several seconds for a healthy answer, which must not look like a lost quorum.
 */
const HEALTH_LIMIT = 10_000;
/** Namespace of the Leases of kubelets, each named as its Node, and of k0s's controllers. */
export const NODE_LEASES = "kube-node-lease";

export interface ViewOptions {
    /** Our lock as last written: during an operation, a healthy member's API server must show it (safety.md 9). */
    readonly lease?: LeaseObject;
}

/**
 * Looks at everything at once, without any cache. Fails when the helper's own etcd or API cannot answer, or not before the
 * deadline; a member that cannot be asked is `unhealthy`.
 */
export async function readCluster(
    connection: ClusterConnection,
    options: ViewOptions,
    deadline: Deadline,
): Promise<ClusterFacts> {
    const host = connection.helper.address;
    const late = (): TimeoutError =>
        new TimeoutError({ stage: "looking at the cluster", host, what: "no answer in time" });
    return before(deadline, read(connection, options), late);
}

async function read(connection: ClusterConnection, options: ViewOptions): Promise<ClusterFacts> {
    const { kube, etcd, helperFacts } = connection;
    const controlNodes = kube.controlNodes();
    const members = Promise.all([readMembers(connection), controlNodes]).then(([seen, objects]) =>
        Promise.all(seen.map((member) => toMember(connection, member, objects, options))),
    );
    const [found, status, alarms, etcdMembers, nodes, mke] = await Promise.all([
        members,
        etcd.status(),
        etcd.alarms(),
        kube.etcdMembers(),
        readNodes(kube),
        kube.hasMke(),
    ]);
    return {
        helper: helperFacts,
        members: found,
        leaderId: status.leaderId,
        alarms,
        etcdMembers,
        controlNodes: await controlNodes,
        ...nodes,
        mke,
    };
}

/** With the moment of these answers: those for the members may take seconds longer. */
async function readNodes(kube: Kube): Promise<Pick<ClusterFacts, "nodes" | "heartbeats" | "now">> {
    const [nodes, leases] = await Promise.all([kube.nodes(), kube.leases(NODE_LEASES)]);
    const renewed = leases.map(({ name, renewTime }) => [name, Date.parse(renewTime)] as const);
    const heartbeats = Object.fromEntries(renewed.filter(([, time]) => !Number.isNaN(time)));
    return { nodes, heartbeats, now: kube.now() };
}

async function toMember(
    connection: ClusterConnection,
    { id, name, peerUrls, learner }: EtcdMemberSeen,
    controlNodes: readonly ControlNodeObject[],
    options: ViewOptions,
): Promise<Member> {
    const peerHosts = peerUrls.map(hostOf);
    const health =
        id === connection.helperFacts.memberId
            ? await askOne(connection, connection.kube, options)
            : await askMember(connection, apiAddresses(peerHosts, controlNodes), options);
    return { id, name, peerHosts, learner, health: health ?? "unhealthy" };
}

/** Host part of a URL, without the brackets of an IPv6 address. */
export function hostOf(url: string): string {
    return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

/**
 * Where a member's API server may listen: at its peer address, else at the other addresses of the ControlNode that has the
 * same one. Never by name: a name may have moved to another machine (safety.md 5).
 */
export function apiAddresses(peerHosts: readonly string[], controlNodes: readonly ControlNodeObject[]): string[] {
    const own = controlNodes.filter(({ addresses }) => sharedAddresses(addresses, peerHosts).length > 0);
    const others = own
        .flatMap(({ addresses }) => addresses.map(normalAddress))
        .filter((address) => isIP(address) !== 0);
    return [...new Set([...peerHosts, ...others])];
}

/** The first address where a server answers decides; where none does, the member is not healthy. */
async function askMember(
    connection: ClusterConnection,
    addresses: readonly string[],
    options: ViewOptions,
): Promise<MemberHealth | undefined> {
    const answers = addresses.map(async (address) => {
        const kube = connection.kubeAt(address, HEALTH_LIMIT);
        try {
            return await askOne(connection, kube, options);
        } finally {
            kube.close();
        }
    });
    const health = await Promise.all(answers);
    return health.find((one) => one !== undefined);
}

/**
 * undefined: nobody answered there. One question after the other, over one connection: each further one costs a channel and a
 * handshake, for every member and every node that is looked at. A hung etcd answers only the first, with a failure.
 */
async function askOne(
    { helperFacts }: ClusterConnection,
    kube: Kube,
    { lease }: ViewOptions,
): Promise<MemberHealth | undefined> {
    const ready = await kube.isReady("/readyz/etcd").catch(() => undefined);
    if (ready === undefined) return undefined;
    const proven = ready && (await showsCluster(kube, helperFacts.clusterId, lease).catch(() => false));
    return proven ? "healthy" : "unhealthy";
}

async function showsCluster(kube: Kube, clusterId: string, lease: LeaseObject | undefined): Promise<boolean> {
    if ((await kube.clusterId()) !== clusterId) return false;
    return lease === undefined || shows(await kube.lease(lease.namespace, lease.name), lease);
}

/** It may have been renewed since: revisions of one etcd only grow, and another cluster has not our holder at all. */
function shows(shown: LeaseObject | undefined, written: LeaseObject): boolean {
    return (
        shown !== undefined &&
        shown.uid === written.uid &&
        shown.holder === written.holder &&
        BigInt(shown.resourceVersion) >= BigInt(written.resourceVersion)
    );
}
