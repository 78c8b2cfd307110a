import { type ClusterFacts, type Member, memberIdToHex, type NodeObject } from "../facts/cluster";
import { normalAddress, sharedAddresses } from "../address";
import { lifeOf } from "./alive";
import type { Topic } from "./refusal";

/** How long a Node may be NotReady before it counts (safety.md 22): every fresh one wobbles once, 5–8 s (observed.md). */
export const WOBBLE_MS = 60_000;

/** What the operation itself moves, and therefore never counts. */
export interface Exempt {
    readonly nodeNames: readonly string[];
    readonly memberIds: readonly bigint[];
    /** Nodes that another operation's lock names, when it is not known yet whether that one lives: waited for. */
    readonly undecided?: readonly string[];
    /** Another operation works on the control plane: what its members show meanwhile may pass. */
    readonly controlPlaneMoves?: boolean;
}

export interface Problem {
    /** One clause, without times or counters. */
    readonly what: string;
    /** True where it passes by itself: wait, do not fail. */
    readonly transient: boolean;
    readonly topic?: Topic;
    /** What to do about it. */
    readonly advice?: string;
}

/** What keeps an operation from starting on a cluster. Empty: it is stable. */
export function clusterProblems(cluster: ClusterFacts, exempt: Exempt): Problem[] {
    const members = cluster.members
        .filter((member) => !exempt.memberIds.includes(member.id))
        .flatMap((member) => memberProblems(member, cluster));
    return [
        ...etcdProblems(cluster),
        ...members.map((problem) => (exempt.controlPlaneMoves === true ? { ...problem, transient: true } : problem)),
        ...leavingProblems(cluster, exempt),
        ...nodeProblems(cluster, exempt),
        ...versionProblems(cluster, exempt),
    ];
}

function etcdProblems({ leaderId, alarms }: ClusterFacts): Problem[] {
    return [
        ...(leaderId === undefined ? [{ what: "etcd has no leader", transient: true } as const] : []),
        ...alarms.map((alarm) => lasting(`etcd alarm ${alarm}`, "unhealthy-bystander")),
    ];
}

function memberProblems(member: Member, cluster: ClusterFacts): Problem[] {
    const who = `etcd member ${describeMember(member)}`;
    if (!isKnown(member, cluster)) {
        return [lasting(`${who} belongs to no known controller: a ghost`, "ghost-member")];
    }
    if (member.name === "") return [lasting(`${who} was added and never started`, "ghost-member")];
    if (member.learner) return [lasting(`${who} is a learner`, "unhealthy-bystander")];
    if (member.health === "healthy") return [];
    const why = member.health === "unhealthy" ? "is not healthy" : "was not proven healthy";
    return [lasting(`${who} ${why}`, "unhealthy-bystander")];
}

/** Name, address and ID, as a person needs them to find it: `c3 at 10.0.0.3 (8e9e05c52164694d)`. */
export function describeMember({ id, name, peerHosts }: Pick<Member, "id" | "name" | "peerHosts">): string {
    return `${name === "" ? "without a name" : name} at ${peerHosts.join(", ")} (${memberIdToHex(id)})`;
}

function isKnown(member: Member, { etcdMembers, controlNodes, nodes }: ClusterFacts): boolean {
    const addresses = [...controlNodes, ...nodes].flatMap((object) => object.addresses);
    if (sharedAddresses(member.peerHosts, addresses).length > 0) return true;
    return etcdMembers.some(({ memberId, peerAddress }) =>
        memberId === undefined
            ? peerAddress !== undefined && member.peerHosts.map(normalAddress).includes(normalAddress(peerAddress))
            : memberId === member.id,
    );
}

function leavingProblems({ members, etcdMembers }: ClusterFacts, exempt: Exempt): Problem[] {
    const ids = new Set(members.map((member) => member.id));
    return etcdMembers
        .filter(({ leave, memberId }) => leave && memberId !== undefined && ids.has(memberId))
        .filter(({ memberId }) => memberId !== undefined && !exempt.memberIds.includes(memberId))
        .map(({ name }) => ({ what: `EtcdMember ${name} is leaving`, transient: true, topic: "leave-in-progress" }));
}

function nodeProblems(cluster: ClusterFacts, exempt: Exempt): Problem[] {
    const { nodes, members, controlNodes, now } = cluster;
    const peers = [...members.flatMap(({ peerHosts }) => peerHosts), ...controlNodes.flatMap((one) => one.addresses)];
    // It may be the very one that goes: the lock names it only once the cluster is backed up.
    const mayMove = ({ addresses }: NodeObject): boolean =>
        exempt.controlPlaneMoves === true && sharedAddresses(addresses, peers).length > 0;
    return nodes
        .filter((node) => !node.ready && !exempt.nodeNames.includes(node.name))
        .map((node) => ({
            what: `Node ${node.name} is NotReady`,
            transient: isWobble(node, now) || exempt.undecided?.includes(node.name) === true || mayMove(node),
            topic: "unhealthy-bystander",
            ...(lifeOf({ node, member: undefined }, cluster).life === "dead" && { advice: leftBehind(node) }),
        }));
}

/** A machine that was wiped or is gone leaves its Node behind, also where the matrix keeps it in a removal (0a, 1). */
function leftBehind({ name }: NodeObject): string {
    return `The kubelet of Node ${name} has ended: if its machine is gone or was wiped, take it away with \`kubectl delete node ${name}\`.`;
}

/** NotReady, and not for long enough to count; `now` by the clock of the API server. */
export function isWobble({ readySince }: Pick<NodeObject, "readySince">, now: number): boolean {
    return readySince > 0 && now - readySince < WOBBLE_MS;
}

/** ControlNodes of controllers that left are never deleted by k0s; only those of members count. */
export function versionProblems({ controlNodes, members, helper }: ClusterFacts, exempt: Exempt): Problem[] {
    const peers = members.flatMap((member) => member.peerHosts);
    const others = controlNodes.filter(
        ({ name, addresses }) => !exempt.nodeNames.includes(name) && sharedAddresses(addresses, peers).length > 0,
    );
    return others
        .filter(({ k0sVersion }) => k0sVersion !== undefined && k0sVersion !== helper.k0sVersion)
        .map(({ name, k0sVersion }) =>
            lasting(
                `controller ${name} runs k0s ${k0sVersion}, ${helper.nodeName} ${helper.k0sVersion}`,
                "version-mismatch",
            ),
        );
}

function lasting(what: string, topic: Topic): Problem {
    return { what, transient: false, topic };
}
