import { addHost, type DecideHosts, removeHost } from "../decide/mke-hosts";
import { foreseeRegistration, updateMkeConfig } from "../stages/update-mke-config";
import { redistributeWorkloads, waitForAddons, waitForRelease } from "../stages/scale-mke";
import type { HostOperation, Operation } from "../stages/operation";
import { runStage } from "../stages/stage";
import { CHECK_SECONDS } from "../stages/timing";

/** Before anything is changed: the host will be able to be listed in MkeConfig. Nothing where the cluster has none. */
export async function checkMke(operation: HostOperation): Promise<void> {
    if (!operation.clusterFacts.mke) return;
    await runStage(operation.log, "checking MkeConfig", CHECK_SECONDS, () => foreseeRegistration(operation));
}

/**
 * MKE's side of an add: release Ready, host in MkeConfig, add-ons scaled, workloads spread. Nothing where the cluster has no
 * MkeConfig. `membershipChanged`: etcd has a new member.
 */
export function registerWithMke(operation: HostOperation, membershipChanged: boolean): Promise<void> {
    return updateMke(operation, addHost, membershipChanged);
}

/** Its counterpart: host out of MkeConfig, add-ons scaled in, workloads spread. Done also for a host that does not answer. */
export function deregisterFromMke(operation: Operation, membershipChanged: boolean): Promise<void> {
    return updateMke(operation, removeHost, membershipChanged);
}

/**
 * A running node's flags in its entry, after they changed: a later `mkectl apply` goes by them. By the rules of an add, but the
 * add-ons are not waited for, because their number is that of the controllers.
 */
export async function changeEntry(operation: Operation, decide: DecideHosts): Promise<void> {
    const { log, inputs } = operation;
    await runStage(log, "updating flags in MkeConfig", inputs.timeouts.addons, async (deadline) => {
        await waitForRelease(operation, decide, deadline);
        return (await updateMkeConfig(operation, decide, deadline)).outcome;
    });
}

async function updateMke(operation: Operation, decide: DecideHosts, membershipChanged: boolean): Promise<void> {
    if (!operation.clusterFacts.mke) return;
    const { log, inputs, kind } = operation;
    const { addons } = inputs.timeouts;
    await runStage(log, "waiting for the MkeRelease", addons, (deadline) =>
        waitForRelease(operation, decide, deadline),
    );
    const written = { changed: false };
    await runStage(log, "updating MkeConfig", addons, async (deadline) => {
        const { changed, outcome } = await updateMkeConfig(operation, decide, deadline);
        written.changed = changed;
        return outcome;
    });
    if (kind !== "controller" || !(written.changed || membershipChanged)) return;
    await runStage(log, "waiting for the add-ons", addons, (deadline) => waitForAddons(operation, deadline));
    if (!membershipChanged || !inputs.mke.redistributeWorkloads) return;
    await runStage(log, "redistributing workloads", addons, (deadline) => redistributeWorkloads(operation, deadline));
}
