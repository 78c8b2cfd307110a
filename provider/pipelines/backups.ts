import type { Deadline } from "../deadline";
import { EngineGoneError } from "../engine";
import { messageOf } from "../errors";
import { type BackupMoment, backUpOnHelper, backUpToDirectory } from "../stages/backup";
import type { Operation } from "../stages/operation";
import { type Outcome, runStage } from "../stages/stage";

/**
 * A backup of the cluster before or after its etcd members change (safety.md 23; spec/002, "Pre-operation backup",
 * "Post-operation backup"), taken on the helper, which may be the target itself. Without the first one the operation does not
 * go on; a failure of the second is a warning. `change`: for its name; default remove.
 */
export async function backUp(
    operation: Operation,
    when: BackupMoment["when"],
    change: BackupMoment["change"] = "remove",
): Promise<void> {
    if (operation.inputs.backup.skip) return;
    if (when === "before") return takeBackup(operation, { when, change });
    try {
        await takeBackup(operation, { when, change });
    } catch (error) {
        if (error instanceof EngineGoneError) throw error;
        operation.log.line(`warning: the cluster has no backup from after the change: ${messageOf(error)}`, "quiet");
    }
}

async function takeBackup(operation: Operation, moment: BackupMoment): Promise<void> {
    const { log, inputs } = operation;
    const { directory } = inputs.backup;
    const take = (deadline: Deadline): Promise<Outcome> =>
        directory === undefined
            ? backUpOnHelper(operation, moment, deadline)
            : backUpToDirectory(operation, moment, directory, deadline);
    await (moment.when === "before"
        ? runStage(log, "pre-operation backup", inputs.timeouts.backup, take)
        : runStage(log, "post-operation backup", inputs.timeouts.backup, take));
}
