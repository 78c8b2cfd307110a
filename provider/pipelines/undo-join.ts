import type { Undo } from "../decide/plan";
import { removeUnstarted } from "../stages/leave-etcd";
import { proveLock } from "../stages/prove-lock";
import { stopService } from "../stages/reset-host";
import type { HostOperation } from "../stages/operation";
import { resetMachine } from "./remove-worker";
import { runStage } from "../stages/stage";
import { commandDeadline } from "../stages/timing";

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
    await resetMachine(operation, { machine: "reset" }, () => proveLock(operation, commandDeadline()));
}
