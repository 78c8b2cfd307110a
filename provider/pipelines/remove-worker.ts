import type { RemoveSteps } from "../decide/matrix";
import type { NodeObject } from "../facts/cluster";
import { deleteNode } from "../stages/delete-objects";
import { cordonNode, drainNode } from "../stages/drain-node";
import { markHost, recordInLock, recordOf } from "../stages/record-operation";
import { cleanFolders, resetHost, stopService } from "../stages/reset-host";
import { deregisterFromMke } from "./mke";
import type { HostOperation, Operation } from "./operation";
import { runStage } from "./stage";
import { COMMAND_SECONDS } from "./timing";

/** What of a node is left to remove: decided by the matrix, found in the facts. */
export interface WorkerRemoval {
    readonly steps: RemoveSteps;
    readonly node: NodeObject | undefined;
    /** undefined: the host is unreachable or not ours, and only the cluster's side is done. */
    readonly host: HostOperation | undefined;
}

/** Takes one worker out: drained, its Node deleted, its machine reset (mke4-node-lifecycle.md 3.4). */
export async function removeWorker(operation: Operation, removal: WorkerRemoval): Promise<void> {
    const { node, steps } = removal;
    const { log } = operation;
    // Where k0s is not installed there is nothing on the host but our mark.
    const host = steps.machine === "none" ? undefined : removal.host;
    await recordRemoval(operation, host);
    if (node !== undefined && steps.drain) await drain(operation);
    if (host !== undefined)
        await runStage(log, "stopping k0s", operation.inputs.timeouts.stop, (deadline) => stopService(host, deadline));
    if (node !== undefined)
        await runStage(log, "deleting the Node", COMMAND_SECONDS, () => deleteNode(operation, node));
    if (host !== undefined) {
        await operation.held.prove();
        await resetMachine(host, steps);
    }
    await deregisterFromMke(operation, false);
    if (host === undefined && removal.host !== undefined) await forgetMachine(removal.host);
}

async function forgetMachine({ log, target }: HostOperation): Promise<void> {
    await runStage(log, "removing the mark from the host", COMMAND_SECONDS, (deadline) =>
        target.removeMarker(deadline),
    );
}

export async function recordRemoval(
    operation: Operation,
    host: HostOperation | undefined,
    removing?: bigint,
): Promise<void> {
    const record = recordOf(operation, "remove", removing);
    await runStage(operation.log, "recording the operation", COMMAND_SECONDS, async (deadline) => {
        await recordInLock(operation, record);
        if (host !== undefined) await markHost(host, record, deadline);
    });
}

export async function drain(operation: Operation): Promise<void> {
    const { log, inputs } = operation;
    if (!inputs.drain.enabled) return;
    await runStage(log, "cordoning", COMMAND_SECONDS, () => cordonNode(operation));
    await runStage(log, "draining", inputs.drain.timeout, (deadline) => drainNode(operation, deadline));
}

export async function resetMachine(host: HostOperation, steps: Pick<RemoveSteps, "machine">): Promise<void> {
    const { log, inputs } = host;
    if (steps.machine === "reset")
        await runStage(log, "resetting", inputs.timeouts.reset, (deadline) => resetHost(host, deadline));
    if (steps.machine !== "none")
        await runStage(log, "cleaning folders", inputs.timeouts.reset, (deadline) => cleanFolders(host, deadline));
}
