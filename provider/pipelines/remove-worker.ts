import type { RemovePlan } from "../decide/plan";
import type { OperationRecord } from "../facts/host";
import { deleteNode } from "../stages/delete-objects";
import { MkeError, reasonOf } from "../errors";
import { cordonNode, drainNode, undoCordon, withFate } from "../stages/drain-node";
import type { KubeletWatch } from "../stages/kubelet-watch";
import { proveLock } from "../stages/prove-lock";
import { markHost, recordInLock, recordOf } from "../stages/record-operation";
import { cleanFolders, resetHost, stopService, takeAway } from "../stages/reset-host";
import { checkVersionsBeforeRemoval } from "./checks";
import { deregisterFromMke } from "./mke";
import type { HostOperation, Machine, Operation } from "../stages/operation";
import { runStage, withWarning } from "../stages/stage";
import { COMMAND_SECONDS, commandDeadline } from "../stages/timing";

/** What of a node is left to remove: decided by the matrix, found in the facts. */
export interface WorkerRemoval extends Pick<RemovePlan, "steps" | "node">, Partial<Pick<RemovePlan, "successor">> {
    /** undefined: the host is unreachable or not ours, and only the cluster's side is done. */
    readonly host: HostOperation | undefined;
    /** What the record of the operation says; default `remove`. */
    readonly recordAs?: OperationRecord["kind"];
}

/** Takes one worker out: drained, its Node deleted, its machine reset (mke4-node-lifecycle.md 3.4). */
export async function removeWorker(operation: Operation, removal: WorkerRemoval): Promise<void> {
    const { node, steps } = removal;
    const { log } = operation;
    // Where k0s is not installed there is nothing on the host but our mark.
    const host = steps.machine === "none" ? undefined : removal.host;
    await checkVersionsBeforeRemoval(operation);
    await recordRemoval(operation, { ...removal, host });
    if (node !== undefined && steps.drain) await drain(operation);
    await proveLock(operation, commandDeadline());
    if (host !== undefined)
        await runStage(log, "stopping k0s", operation.inputs.timeouts.stop, (deadline) => stopService(host, deadline));
    if (node !== undefined) {
        await proveLock(operation, commandDeadline());
        await runStage(log, "deleting the Node", COMMAND_SECONDS, () => deleteNode(operation, node));
    }
    if (host !== undefined) {
        await operation.held.prove();
        await resetMachine(host, steps, () => proveLock(operation, commandDeadline()));
    }
    await deregister(operation, removal, false);
    if (host === undefined && removal.host !== undefined) await forgetMachine(removal.host);
}

/** MkeConfig lists hosts by address: an entry that another machine's node has by now is not ours to take out. */
export async function deregister(
    operation: Operation,
    { successor }: Pick<WorkerRemoval, "successor">,
    membershipChanged: boolean,
): Promise<void> {
    if (successor === undefined || !operation.clusterFacts.mke) return deregisterFromMke(operation, membershipChanged);
    operation.log.line(`MkeConfig keeps ${operation.inputs.host}: it is Node ${successor.name} on another machine now`);
}

/** A join of ours that ended before k0s was installed has left no more than this. */
async function forgetMachine(host: HostOperation): Promise<void> {
    await proveLock(host, commandDeadline());
    await runStage(host.log, "removing what we put there", COMMAND_SECONDS, async (deadline) => {
        const left = await takeAway(host, deadline);
        return left.length === 0 ? undefined : withWarning(`could not remove ${left.join(", ")}`);
    });
}

export async function recordRemoval(
    operation: Operation,
    { host, recordAs = "remove" }: Pick<WorkerRemoval, "host" | "recordAs">,
    removing?: bigint,
): Promise<void> {
    const record = recordOf(operation, recordAs, removing);
    await runStage(operation.log, "recording the operation", COMMAND_SECONDS, async (deadline) => {
        await recordInLock(operation, record);
        if (host !== undefined) await markHost(host, record, deadline);
    });
}

export async function drain(operation: Operation, watch?: KubeletWatch): Promise<void> {
    const { log, inputs } = operation;
    if (!inputs.drain.enabled) return;
    await operation.takingTurnToDrain(async (turn) => {
        await runStage(log, "cordoning", COMMAND_SECONDS, () => cordonNode(operation));
        try {
            await runStage(log, "draining", inputs.drain.timeout, (deadline) =>
                drainNode(operation, { turn, watch }, deadline),
            );
        } catch (error) {
            throw error instanceof MkeError ? await giveBack(operation, error) : error;
        }
    });
}

/** The removal ends here, so the node stays: it is made schedulable again if it works and the cordon is ours. */
async function giveBack(operation: Operation, error: MkeError): Promise<MkeError> {
    let fate = "stays cordoned";
    try {
        await runStage(
            operation.log,
            "un-cordoning",
            COMMAND_SECONDS,
            async () => {
                fate = await undoCordon(operation);
                return fate;
            },
            { belongsTogether: true },
        );
    } catch (reason) {
        operation.log.line(`Node ${operation.nodeName} stays cordoned: ${reasonOf(reason)}`, "quiet");
    }
    return withFate(error, `Node ${operation.nodeName} ${fate}.`);
}

/** `prove`: that the lock is still held; a reset may take minutes. Nobody's lock counts where the cluster has ended. */
export async function resetMachine(
    host: Machine,
    steps: Pick<RemovePlan["steps"], "machine">,
    prove: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
    const { log, inputs } = host;
    if (steps.machine === "reset") {
        await runStage(log, "resetting", inputs.timeouts.reset, (deadline) => resetHost(host, deadline));
        await prove();
    }
    if (steps.machine !== "none")
        await runStage(log, "cleaning folders", inputs.timeouts.reset, (deadline) => cleanFolders(host, deadline));
}
