import { type CopyPlan, NOTHING_TO_COPY } from "../stages/copy-files";
import { findMaintenance, installMaintenance, removeMaintenance } from "../stages/etcd-maintenance";
import { labelSelinux, relabelSelinux } from "../stages/label-selinux";
import { putOn } from "../stages/record-operation";
import { giveOwners, planConfiguration, syncConfiguration as copyConfiguration } from "../stages/sync-configuration";
import { syncRegistry } from "../stages/sync-registry";
import type { HostOperation, Machine } from "../stages/operation";
import { runStage } from "../stages/stage";
import { CHECK_SECONDS, COMMAND_SECONDS, commandDeadline } from "../stages/timing";

/** What the joining controller needs of the helper's files; a check, so that nothing was changed when it refuses. */
export async function checkConfiguration(operation: HostOperation): Promise<CopyPlan> {
    let plan = NOTHING_TO_COPY;
    await runStage(operation.log, "checking configuration files", CHECK_SECONDS, async (deadline) => {
        plan = await planConfiguration(operation, deadline);
    });
    return plan;
}

/** spec/002, "Control plane configuration sync". */
export function syncConfiguration(operation: HostOperation, plan: CopyPlan): Promise<void> {
    return runStage(operation.log, "copying configuration files", COMMAND_SECONDS, (deadline) =>
        copyConfiguration(operation, plan, deadline),
    );
}

/** Its second half, after `k0s install` has made the users that own what was copied. */
export async function ownConfiguration(operation: HostOperation, plan: CopyPlan): Promise<void> {
    if (plan.files.length + plan.directories.length + plan.orphans.length === 0) return;
    await runStage(operation.log, "giving files their owners", COMMAND_SECONDS, (deadline) =>
        giveOwners(operation, plan, deadline),
    );
}

/** spec/002, "Registry CA sync". */
export function syncRegistryCa(operation: HostOperation): Promise<void> {
    return runStage(operation.log, "copying registry settings", COMMAND_SECONDS, (deadline) =>
        syncRegistry(operation, deadline),
    );
}

/** spec/002, "SELinux labels". A rule of SELinux takes seconds. */
export function labelForSelinux(operation: HostOperation): Promise<void> {
    return runStage(operation.log, "labelling for SELinux", 2 * COMMAND_SECONDS, (deadline) =>
        labelSelinux(operation, deadline),
    );
}

/** What k0s unpacked at its first start gets its labels too; absent where the host has no SELinux. */
export async function relabelForSelinux(operation: HostOperation): Promise<void> {
    if (operation.hostFacts.selinux === "disabled") return;
    await runStage(operation.log, "labelling what k0s unpacked", 2 * COMMAND_SECONDS, (deadline) =>
        relabelSelinux(operation, deadline),
    );
}

/** spec/002, "Etcd maintenance service installation"; absent where the cluster does without it. */
export async function installEtcdMaintenance(operation: HostOperation): Promise<void> {
    const service = await findMaintenance(operation, commandDeadline());
    if (service === undefined) return;
    await runStage(operation.log, "installing etcd maintenance", operation.inputs.timeouts.binary, (deadline) =>
        installMaintenance(operation, service, deadline),
    );
}

/** Its counterpart, before the host is reset; absent where we did not install it. */
export async function removeEtcdMaintenance(operation: Machine): Promise<void> {
    if ((putOn(operation)?.units ?? []).length === 0) return;
    await runStage(operation.log, "removing etcd maintenance", operation.inputs.timeouts.stop, (deadline) =>
        removeMaintenance(operation, deadline),
    );
}
