import type { HostView } from "../adapters/host";
import { requireStableCluster } from "../stages/check-cluster";
import { checkReachability } from "../stages/check-reachability";
import { checkVersions } from "../stages/check-versions";
import { tellImages } from "../stages/configuration-notes";
import { preflight } from "../stages/preflight";
import { needsSource, verifySource } from "../stages/verify-source";
import { checkMke } from "./mke";
import type { HostOperation, Operation } from "../stages/operation";
import { runStage } from "../stages/stage";
import { CHECK_SECONDS, commandDeadline } from "../stages/timing";

/**
 * What spec/002 checks before a blank host receives k0s, for either role; nothing is changed. `controllers` are those that
 * try their way to the host (safety.md 16).
 */
export async function checkBeforeJoin(operation: HostOperation, controllers: readonly HostView[]): Promise<void> {
    const { log, inputs } = operation;
    await runStage(log, "pre-flight", CHECK_SECONDS, (deadline) => preflight(operation, deadline));
    await tellImages(operation, commandDeadline());
    await runStage(log, "comparing versions", CHECK_SECONDS, () => checkVersions(operation, true));
    if (needsSource(operation))
        await runStage(log, "verifying the registry", CHECK_SECONDS, (deadline) => verifySource(operation, deadline));
    await checkMke(operation);
    await runStage(log, "checking the cluster", inputs.timeouts.ready, (deadline) =>
        requireStableCluster(operation, { nodeNames: [operation.nodeName], memberIds: [] }, deadline),
    );
    await runStage(log, "checking reachability", CHECK_SECONDS, (deadline) =>
        checkReachability(operation, controllers, deadline),
    );
}

/** Nothing else starts while versions move, repairs included (safety.md 22). Only a refusal is told. */
export async function refuseWhileVersionsMove(operation: Operation): Promise<void> {
    await checkVersions(operation, false);
}

/** Nothing is taken away while versions move (safety.md 22), for either role. */
export async function checkVersionsBeforeRemoval(operation: Operation): Promise<void> {
    await runStage(operation.log, "comparing versions", CHECK_SECONDS, () => checkVersions(operation, false));
}
