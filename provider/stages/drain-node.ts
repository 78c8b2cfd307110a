import type { Kube, PodObject } from "../adapters/kube";
import { type Deadline, waitFor } from "../deadline";
import { TimeoutError } from "../errors";
import { CORDON_ANNOTATION } from "../decide/names";
import { type Operation, runsWorkloads } from "../pipelines/operation";
import type { Outcome } from "../pipelines/stage";

const STAGE = "draining";
/** More names than this tell a reader nothing. */
const NAMES_SHOWN = 5;

/** The annotation comes first: it says that the cordon is ours to undo (safety.md 13). */
export async function cordonNode({ id, cluster, nodeName }: Operation): Promise<Outcome> {
    await cluster.kube.annotateNode(nodeName, { [CORDON_ANNOTATION]: id });
    await cluster.kube.setUnschedulable(nodeName, true);
}

/** A joining host may have taken over a stale Node that was cordoned before its removal (spec/002, "Un-cordon"). */
export async function uncordonNode(operation: Operation): Promise<Outcome> {
    const { cluster, nodeName } = operation;
    if (!runsWorkloads(operation)) return "a plain controller has no Node";
    if ((await cluster.kube.node(nodeName))?.unschedulable !== true) return "not cordoned";
    await cluster.kube.setUnschedulable(nodeName, false);
    await cluster.kube.annotateNode(nodeName, { [CORDON_ANNOTATION]: null });
}

/**
 * Evicts what `kubectl drain --force --ignore-daemonsets --delete-emptydir-data` would, by the policy API, so that disruption
 * budgets hold (mke4-node-lifecycle.md 3.3). A drain that does not end in time stops the removal only where `drain.onFailure`
 * says so.
 */
export async function drainNode(operation: Operation, deadline: Deadline): Promise<Outcome> {
    try {
        return await evictAll(operation, deadline);
    } catch (error) {
        if (error instanceof TimeoutError && operation.inputs.drain.onFailure === "continue") {
            return `not complete, going on (drain.onFailure is continue): ${error.details.what}`;
        }
        throw error;
    }
}

async function evictAll({ cluster, nodeName, inputs }: Operation, deadline: Deadline): Promise<Outcome> {
    const grace = inputs.drain.gracePeriod < 0 ? undefined : inputs.drain.gracePeriod;
    const seen = new Set<string>();
    await waitFor<true>({
        stage: STAGE,
        host: nodeName,
        deadline,
        interval: 500,
        advice: "Look at disruption budgets and finalizers of these pods, or raise `drain.timeout`.",
        look: async () => {
            const pods = (await cluster.kube.podsOn(nodeName)).filter(mustGo);
            pods.forEach((pod) => seen.add(pod.uid));
            if (pods.length === 0) return { done: true };
            const blocked = await evictEach(cluster.kube, pods, grace);
            return { seen: describe(pods, blocked) };
        },
    });
    return `${seen.size} pods evicted`;
}

/** DaemonSets put their pods back at once, and mirror pods live in files on the host. */
function mustGo(pod: PodObject): boolean {
    return !pod.mirror && pod.ownerKind !== "DaemonSet";
}

async function evictEach(kube: Kube, pods: readonly PodObject[], grace: number | undefined): Promise<PodObject[]> {
    const waiting = pods.filter((pod) => !pod.deleting);
    const answers = await Promise.all(waiting.map(async (pod) => ({ pod, answer: await kube.evict(pod, grace) })));
    return answers.filter(({ answer }) => answer === "blocked").map(({ pod }) => pod);
}

function describe(pods: readonly PodObject[], blocked: readonly PodObject[]): string {
    const held = blocked.length === 0 ? "" : `; held by a disruption budget: ${names(blocked)}`;
    const finalizers = pods.filter((pod) => pod.deleting && pod.finalizers.length > 0);
    const finalized = finalizers.length === 0 ? "" : `; waiting for finalizers: ${names(finalizers)}`;
    return `${pods.length} pods left: ${names(pods)}${held}${finalized}`;
}

function names(pods: readonly PodObject[]): string {
    const shown = pods.slice(0, NAMES_SHOWN).map((pod) => `${pod.namespace}/${pod.name}`);
    return [...shown, ...(pods.length > NAMES_SHOWN ? [`${pods.length - NAMES_SHOWN} more`] : [])].join(", ");
}
