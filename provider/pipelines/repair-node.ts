import type { Repair } from "../decide/repair";
import { uncordonNode } from "../stages/drain-node";
import { startService } from "../stages/install-service";
import { waitForService } from "../stages/wait-for-service";
import type { HostOperation } from "../stages/operation";
import { adoptNode, restartNode, waitForReady } from "./settle-node";
import { runStage } from "../stages/stage";
import { COMMAND_SECONDS } from "../stages/timing";

/** Carries out one row of the repair table (safety.md 13). Never resets, never removes; a healthy node is only marked again. */
export async function repairNode(operation: HostOperation, { action, uncordon }: Repair): Promise<void> {
    await repairService(operation, action);
    if (uncordon) await runStage(operation.log, "un-cordoning", COMMAND_SECONDS, () => uncordonNode(operation));
}

async function repairService(operation: HostOperation, action: Repair["action"]): Promise<void> {
    switch (action) {
        case "start-service":
            await runStage(operation.log, "starting k0s", COMMAND_SECONDS, (deadline) =>
                startService(operation, deadline),
            );
            await runStage(operation.log, "waiting for k0s", operation.inputs.timeouts.api, (deadline) =>
                waitForService(operation, deadline),
            );
            return waitForReady(operation);
        case "wait-ready":
            return waitForReady(operation);
        case "restart":
            return restartNode(operation);
        default:
            return adoptNode(operation);
    }
}
