import { type Deadline, waitFor } from "../deadline";
import { CORDON_ANNOTATION } from "../decide/names";
import { type MkeError, TimeoutError } from "../errors";
import type { HeldLock } from "../lock";
import type { KubeletWatch } from "./kubelet-watch";
import { type Operation, runsWorkloads } from "./operation";
import { nothingToDo, type Outcome, withWarning } from "./stage";
import { Drain } from "./drain-round";

const STAGE = "draining";

/**
 * The annotation says that the cordon is ours to undo (safety.md 13); neither is ever there without the other. A Node that
 * somebody else cordoned is left as it is.
 */
export async function cordonNode({ id, cluster, nodeName }: Operation): Promise<Outcome> {
    const node = await cluster.kube.node(nodeName);
    if (node?.unschedulable === true && node.annotations[CORDON_ANNOTATION] === undefined)
        return nothingToDo("cordoned already");
    await cluster.kube.setUnschedulable(nodeName, true, { [CORDON_ANNOTATION]: id });
}

/** A joining host may have taken over a stale Node that was cordoned before its removal (spec/002, "Un-cordon"). */
export async function uncordonNode(operation: Operation): Promise<Outcome> {
    const { cluster, nodeName } = operation;
    if (!runsWorkloads(operation)) return nothingToDo("a plain controller has no Node");
    const node = await cluster.kube.node(nodeName);
    if (node?.unschedulable !== true && node?.annotations[CORDON_ANNOTATION] === undefined)
        return nothingToDo("not cordoned");
    await schedulable(operation);
}

/** Takes our own cordon back where the Node works. Answers what becomes of the Node; fails once the lock is lost. */
export async function undoCordon(operation: Operation): Promise<string> {
    await operation.held.prove();
    const node = await operation.cluster.kube.node(operation.nodeName);
    if (node?.annotations[CORDON_ANNOTATION] === undefined) return "stays as somebody else cordoned it";
    // Its kubelet is gone, stopped by the removal itself perhaps: nothing would run there.
    if (!node.ready) return "stays cordoned, because it is NotReady";
    await schedulable(operation);
    return "is schedulable again, because the removal stopped there";
}

async function schedulable({ cluster, nodeName }: Operation): Promise<void> {
    await cluster.kube.setUnschedulable(nodeName, false, { [CORDON_ANNOTATION]: null });
}

/** The drain's error with what became of the Node. */
export function withFate(error: MkeError, fate: string): MkeError {
    if (!(error instanceof TimeoutError)) return error;
    const { advice } = error.details;
    return new TimeoutError({ ...error.details, advice: advice === undefined ? fate : `${advice} ${fate}` });
}

export interface DrainConditions {
    readonly turn: Pick<HeldLock, "prove">;
    /** Given, the drain stops when the kubelet does. */
    readonly watch?: KubeletWatch | undefined;
}

/**
 * Evicts what `kubectl drain --force --ignore-daemonsets --delete-emptydir-data` would, by the policy API, so that disruption
 * budgets hold (mke4-node-lifecycle.md 3.3). A drain that does not end in time stops the removal only where `drain.onFailure`
 * says so. It goes on only while both the operation's lock and its turn to drain are held.
 */
export async function drainNode(
    operation: Operation,
    { turn, watch }: DrainConditions,
    deadline: Deadline,
): Promise<Outcome> {
    try {
        return await evictAll(operation, { turn, watch }, deadline);
    } catch (error) {
        if (error instanceof TimeoutError && operation.inputs.drain.onFailure === "continue") {
            return withWarning(`not complete, going on (drain.onFailure is continue): ${error.details.what}`);
        }
        throw error;
    }
}

async function evictAll(operation: Operation, { turn, watch }: DrainConditions, deadline: Deadline): Promise<Outcome> {
    const { cluster, nodeName, inputs, held } = operation;
    const drain = new Drain(cluster.kube, nodeName, inputs.drain.gracePeriod);
    return waitFor<string>({
        stage: STAGE,
        host: nodeName,
        deadline,
        interval: 500,
        advice: "Look at disruption budgets, finalizers and webhooks of these pods, or raise `drain.timeout`.",
        look: async () => {
            await held.prove();
            await turn.prove();
            if ((await watch?.look()) === true) return { done: "stopped: the kubelet ended meanwhile" };
            return drain.round();
        },
    });
}
