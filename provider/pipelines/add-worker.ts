import { checkReachability } from "../stages/check-reachability";
import { installService, startService, withJoinToken } from "../stages/install-service";
import { markNode } from "../stages/mark-node";
import { preflight } from "../stages/preflight";
import { markHost, recordInLock, recordOf } from "../stages/record-operation";
import { stageBinary } from "../stages/stage-binary";
import { waitForNode } from "../stages/wait-for-node";
import { readApiServer } from "../stages/api-server";
import type { HostOperation } from "./operation";
import { runStage } from "./stage";
import { CHECK_SECONDS, COMMAND_SECONDS } from "./timing";

/** Joins one blank host as a worker (spec/002, "Worker node addition"). No controller is touched. */
export async function addWorker(operation: HostOperation): Promise<void> {
    const { log, inputs } = operation;
    const { timeouts } = inputs;
    const record = recordOf(operation, "add");

    await runStage(log, "pre-flight", CHECK_SECONDS, () => Promise.resolve(preflight(operation)));
    await runStage(log, "checking reachability", CHECK_SECONDS, (deadline) =>
        checkReachability(operation, [], deadline),
    );
    await runStage(log, "recording the operation", COMMAND_SECONDS, async (deadline) => {
        await recordInLock(operation, record);
        await markHost(operation, record, deadline);
    });
    await runStage(log, "staging k0s", timeouts.binary, (deadline) => stageBinary(operation, deadline));
    await join(operation);
    await runStage(log, "marking the node", COMMAND_SECONDS, async (deadline) => {
        await markNode(operation, await readApiServer(operation, deadline));
        await markHost(operation, undefined, deadline);
    });
}

function join(operation: HostOperation): Promise<void> {
    const { log, inputs } = operation;
    return withJoinToken(operation, async () => {
        await runStage(log, "installing k0s", COMMAND_SECONDS, (deadline) => installService(operation, deadline));
        await runStage(log, "starting k0s", COMMAND_SECONDS, (deadline) => startService(operation, deadline));
        await runStage(log, "waiting for the Node", inputs.timeouts.ready, (deadline) =>
            waitForNode(operation, deadline),
        );
    });
}
