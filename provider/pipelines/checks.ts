import type { Host } from "../adapters/host";
import { requireStableCluster } from "../stages/check-cluster";
import { checkReachability } from "../stages/check-reachability";
import { preflight } from "../stages/preflight";
import type { HostOperation } from "./operation";
import { runStage } from "./stage";
import { CHECK_SECONDS } from "./timing";

/**
 * What spec/002 checks before a blank host receives k0s, for either role; nothing is changed. `controllers` are those that
 * try their way to the host (safety.md 16).
 */
export async function checkBeforeJoin(operation: HostOperation, controllers: readonly Host[]): Promise<void> {
    const { log, inputs } = operation;
    await runStage(log, "pre-flight", CHECK_SECONDS, () => Promise.resolve(preflight(operation)));
    await runStage(log, "checking the cluster", inputs.timeouts.ready, (deadline) =>
        requireStableCluster(operation, { nodeNames: [operation.nodeName], memberIds: [] }, deadline),
    );
    await runStage(log, "checking reachability", CHECK_SECONDS, (deadline) =>
        checkReachability(operation, controllers, deadline),
    );
}
