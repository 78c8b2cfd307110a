import { blankLeftToken, installService, startService, withJoinToken } from "../stages/install-service";
import { markNode } from "../stages/mark-node";
import { proveLock } from "../stages/prove-lock";
import { markHost, noteFlags, recordInLock, recordOf } from "../stages/record-operation";
import { stageBinary } from "../stages/stage-binary";
import { waitForNode } from "../stages/wait-for-node";
import { readApiServer } from "../stages/api-server";
import { uncordonNode } from "../stages/drain-node";
import { checkBeforeJoin } from "./checks";
import { labelForSelinux, relabelForSelinux, syncRegistryCa } from "./material";
import { registerWithMke } from "./mke";
import type { HostOperation } from "../stages/operation";
import { runStage } from "../stages/stage";
import { COMMAND_SECONDS, commandDeadline } from "../stages/timing";

/** Joins one blank host as a worker (spec/002, "Worker node addition"). No controller is touched. */
export async function addWorker(operation: HostOperation): Promise<void> {
    const { log, inputs } = operation;
    const { timeouts } = inputs;
    const record = recordOf(operation, "add");

    await checkBeforeJoin(operation, []);
    await runStage(log, "recording the operation", COMMAND_SECONDS, async (deadline) => {
        await recordInLock(operation, record);
        await markHost(operation, record, deadline);
    });
    await syncRegistryCa(operation);
    await runStage(log, "staging k0s", timeouts.binary, (deadline) => stageBinary(operation, deadline));
    await labelForSelinux(operation);
    await join(operation);
    await settle(operation);
}

/** Goes on with a join of ours that was interrupted after its service had been installed: from there k0s gets on by itself. */
export async function continueWorker(operation: HostOperation): Promise<void> {
    await start(operation);
    await settle(operation);
}

async function settle(operation: HostOperation): Promise<void> {
    await relabelForSelinux(operation);
    await registerWithMke(operation, false);
    await proveLock(operation, commandDeadline());
    await runStage(operation.log, "marking the node", COMMAND_SECONDS, async (deadline) => {
        await markNode(operation, await readApiServer(operation, deadline));
        await noteFlags(operation, deadline);
        await markHost(operation, undefined, deadline);
        await blankLeftToken(operation, deadline);
    });
}

function join(operation: HostOperation): Promise<void> {
    return withJoinToken(operation, async () => {
        await runStage(operation.log, "installing k0s", COMMAND_SECONDS, (deadline) =>
            installService(operation, deadline),
        );
        await start(operation, { seesItThrough: true });
    });
}

/**
 * From an installed service to a Node that takes pods. Seen through where its token goes with the wait: a k0s that has not
 * registered by then never would.
 */
async function start(operation: HostOperation, patience: { readonly seesItThrough?: true } = {}): Promise<void> {
    const { log, inputs } = operation;
    await runStage(log, "starting k0s", COMMAND_SECONDS, (deadline) => startService(operation, deadline));
    await runStage(
        log,
        "waiting for the Node",
        inputs.timeouts.ready,
        (deadline) => waitForNode(operation, deadline, patience),
        { belongsTogether: patience.seesItThrough === true },
    );
    await proveLock(operation, commandDeadline());
    await runStage(log, "un-cordoning", COMMAND_SECONDS, () => uncordonNode(operation));
}
