import type { ClusterFacts, Member, NodeObject } from "../facts/cluster";

/** A kubelet renews its Lease every 10 s: one that missed two of them is not known to live. */
const RENEWED_WITHIN = 20_000;
/** Until then Kubernetes itself may not have noticed an end: a Node is Ready for 40–50 s after it (observed.md). */
const ENDED_FOR = 60_000;

/** How long a life that stands against a removal is looked at again before it is believed, in seconds (safety.md 4). */
export const LOOK_AGAIN_FOR_LIFE = 60;

/**
 * Whether a node lives that cannot be asked itself. `alive`: its kubelet renewed its Lease within 20 s, or its etcd member is
 * proven healthy. `undecided`: neither, and it may have ended a moment ago.
 */
export interface Life {
    readonly life: "alive" | "undecided" | "dead";
    /** One clause without times, e.g. `the kubelet of Node c3 renews its Lease`. */
    readonly why: string;
}

/** What the cluster has of a node; undefined where there is nothing. */
export interface Traces {
    readonly node: NodeObject | undefined;
    readonly member: Member | undefined;
}

export function lifeOf({ node, member }: Traces, cluster: Beats): Life {
    if (node !== undefined && hasHeartbeat(node, cluster)) {
        return { life: "alive", why: `the kubelet of Node ${node.name} renews its Lease` };
    }
    if (member?.health === "healthy") return { life: "alive", why: `its etcd member ${member.name} is healthy` };
    if (node !== undefined && (node.ready || cluster.now - renewedAt(node, cluster) < ENDED_FOR)) {
        return { life: "undecided", why: `it is not certain yet that the kubelet of Node ${node.name} has ended` };
    }
    return { life: "dead", why: "neither a kubelet nor an etcd member of it lives" };
}

type Beats = Pick<ClusterFacts, "heartbeats" | "now">;

/** Its kubelet lives: only then can its pods end. */
export function hasHeartbeat(node: Pick<NodeObject, "name">, cluster: Beats): boolean {
    return isRecent(renewedAt(node, cluster), cluster.now);
}

/** Both in milliseconds since 1970, `now` by the API server's clock. A kubelet's clock may be ahead of it. */
export function isRecent(renewed: number, now: number): boolean {
    return now - renewed <= RENEWED_WITHIN;
}

function renewedAt({ name }: Pick<NodeObject, "name">, { heartbeats }: Beats): number {
    return heartbeats[name] ?? 0;
}
