import type { Undo } from "../decide/plan";
import { removeUnstarted } from "../stages/leave-etcd";
import { cleanFolders, resetHost, stopService } from "../stages/reset-host";
import type { HostOperation } from "./operation";
import { runStage } from "./stage";

/** Takes back what our own interrupted join left, so that the join starts from nothing (safety.md 11). */
export async function undoJoin(operation: HostOperation, undo: Undo): Promise<void> {
    const { log, inputs } = operation;
    const { member } = undo;
    if (undo.resetHost)
        await runStage(log, "stopping k0s", inputs.timeouts.stop, (deadline) => stopService(operation, deadline));
    if (member !== undefined) {
        await runStage(log, "removing the unstarted member", inputs.timeouts.leave, (deadline) =>
            removeUnstarted(operation, member, deadline),
        );
    }
    if (!undo.resetHost) return;
    await operation.held.prove();
    await runStage(log, "resetting", inputs.timeouts.reset, (deadline) => resetHost(operation, deadline));
    await runStage(log, "cleaning folders", inputs.timeouts.reset, (deadline) => cleanFolders(operation, deadline));
}
