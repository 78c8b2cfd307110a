import type { Eviction, Kube, PodObject } from "../adapters/kube";
import type { Look } from "../deadline";
import { isWobble } from "../decide/cluster-health";
import { LockError, MkeError } from "../errors";
import { counted, shortList } from "../text";

interface Tried {
    readonly pod: PodObject;
    readonly eviction: Eviction;
}

/** One drain, round by round: evicts what is still there and looks what holds it. */
export class Drain {
    private readonly seen = new Set<string>();

    constructor(
        private readonly kube: Kube,
        private readonly nodeName: string,
        /** Seconds that a pod gets; negative: what the pod says. */
        private readonly gracePeriod: number,
    ) {}

    async round(): Promise<Look<string>> {
        const all = await this.kube.podsOn(this.nodeName);
        const pods = all.filter(mustGo);
        pods.forEach((pod) => this.seen.add(pod.uid));
        const lost = await this.lostWithTheirKubelet(pods);
        if (pods.length === lost.length) return { done: this.outcome(lost) };
        const tried = await this.evictEach(pods.filter((pod) => !pod.deleting));
        const mirrors = all.filter(({ mirror }) => mirror).map((pod) => ({ pod, what: "mirror pods, left alone" }));
        return { seen: describe(pods, [...holdsOf(pods, lost, tried), ...mirrors]) };
    }

    private outcome(lost: readonly PodObject[]): string {
        const evicted = `${counted(this.seen.size, "pod")} evicted`;
        if (lost.length === 0) return evicted;
        return `${evicted}; not waited for, because the kubelet is unreachable: ${names(lost.map((pod) => ({ pod })))}`;
    }

    /**
     * Pods that are ending on a kubelet that has been away for a minute: only it could say that they have ended, so the API
     * server would keep them until the Node is deleted. kubectl has `--skip-wait-for-delete-timeout` for them.
     */
    private async lostWithTheirKubelet(pods: readonly PodObject[]): Promise<readonly PodObject[]> {
        const ending = pods.filter((pod) => pod.deleting);
        if (ending.length === 0) return [];
        const node = await this.kube.node(this.nodeName);
        const isAway = node === undefined || (!node.ready && !isWobble(node, this.kube.now()));
        return isAway ? ending : [];
    }

    private evictEach(pods: readonly PodObject[]): Promise<Tried[]> {
        return Promise.all(pods.map(async (pod) => ({ pod, eviction: await this.evict(pod) })));
    }

    /** A call that failed and may succeed later is a reason like any other: the other pods go on. */
    private async evict(pod: PodObject): Promise<Eviction> {
        try {
            return await this.kube.evict(pod, this.gracePeriod < 0 ? undefined : this.gracePeriod);
        } catch (error) {
            if (!(error instanceof MkeError) || !error.retryable || error instanceof LockError) throw error;
            return { failed: error.details.what };
        }
    }
}

/** DaemonSets put their pods back at once, and mirror pods live in files on the host. What has ended goes in any case. */
function mustGo({ mirror, ownerKind, phase }: PodObject): boolean {
    const hasEnded = phase === "Succeeded" || phase === "Failed";
    return !mirror && (ownerKind !== "DaemonSet" || hasEnded);
}

/** What keeps a pod, and why where somebody said it. */
interface Hold {
    readonly pod: PodObject;
    readonly what: string;
    readonly why?: string;
}

function holdsOf(pods: readonly PodObject[], lost: readonly PodObject[], tried: readonly Tried[]): Hold[] {
    const ending = pods.filter((pod) => pod.deleting && !lost.includes(pod));
    return [
        ...tried.flatMap(refusalOf),
        ...ending.map((pod) =>
            pod.finalizers.length === 0
                ? { pod, what: "ending" }
                : { pod, what: "waiting for finalizers", why: pod.finalizers.join(", ") },
        ),
        ...lost.map((pod) => ({ pod, what: "not waited for, because the kubelet is unreachable" })),
    ];
}

function refusalOf({ pod, eviction }: Tried): Hold[] {
    if (typeof eviction === "string") return [];
    return "blocked" in eviction
        ? [{ pod, what: "held by a disruption budget", why: eviction.blocked }]
        : [{ pod, what: "eviction fails", why: eviction.failed }];
}

function describe(pods: readonly PodObject[], holds: readonly Hold[]): string {
    const kinds = [...new Set(holds.map(({ what }) => what))];
    const told = kinds.map((kind) => `; ${kind}: ${names(holds.filter(({ what }) => what === kind))}`);
    return `${counted(pods.length, "pod")} left: ${names(pods.map((pod) => ({ pod })))}${told.join("")}`;
}

function names(holds: readonly Pick<Hold, "pod" | "why">[]): string {
    return shortList(
        holds.map(({ pod, why }) => `${pod.namespace}/${pod.name}${why === undefined ? "" : ` (${why})`}`),
    );
}
