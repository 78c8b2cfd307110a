import type { HostView } from "../adapters/host";
import { Deadline } from "../deadline";
import type { EtcdMemberObject, Member } from "../facts/cluster";
import { verifyMembership } from "../stages/check-cluster";
import type { CopyPlan } from "../stages/copy-files";
import { blankLeftToken, installService, startService, withJoinToken } from "../stages/install-service";
import { waitForVoter } from "../stages/join-etcd";
import { markNode } from "../stages/mark-node";
import { proveJoinable } from "../stages/baseline";
import { proveLock, stretchLock } from "../stages/prove-lock";
import { forgetRemoved } from "../stages/record-removed";
import { markHost, noteFlags, recordInLock, recordOf } from "../stages/record-operation";
import { stageBinary } from "../stages/stage-binary";
import { verifyEtcdCluster, waitForApi, waitForEtcdMemberObject } from "../stages/verify-controller";
import { waitForNode } from "../stages/wait-for-node";
import { writeConfiguration } from "../stages/write-configuration";
import { uncordonNode } from "../stages/drain-node";
import { backUp } from "./backups";
import { checkBeforeJoin } from "./checks";
import {
    checkConfiguration,
    installEtcdMaintenance,
    labelForSelinux,
    ownConfiguration,
    relabelForSelinux,
    syncConfiguration,
    syncRegistryCa,
} from "./material";
import { registerWithMke } from "./mke";
import type { HostOperation } from "../stages/operation";
import { deleteStaleObject } from "./settle-node";
import { runStage } from "../stages/stage";
import { COMMAND_SECONDS, commandDeadline, JOIN_LEASE_SECONDS, SHORT_LEASE_SECONDS } from "../stages/timing";

/**
 * Joins one blank host as a voting controller (spec/002, "Control plane node addition"). `stale`: the EtcdMember that a removal of
 * this host left; it goes once all checks have passed. Answers its member ID.
 */
export async function addController(
    operation: HostOperation,
    controllers: readonly HostView[],
    stale?: EtcdMemberObject,
): Promise<bigint> {
    const { log, inputs } = operation;
    const { timeouts } = inputs;
    const record = recordOf(operation, "add");

    await checkBeforeJoin(operation, controllers);
    const material = await checkConfiguration(operation);
    if (stale !== undefined) await deleteStaleObject(operation, stale);
    await backUp(operation, "before", "add");
    await runStage(log, "recording the operation", COMMAND_SECONDS, async (deadline) => {
        await recordInLock(operation, record);
        await markHost(operation, record, deadline);
        await forgetRemoved(operation);
    });
    await syncConfiguration(operation, material);
    await syncRegistryCa(operation);
    await runStage(log, "staging k0s", timeouts.binary, (deadline) => stageBinary(operation, deadline));
    await labelForSelinux(operation);
    await runStage(log, "writing configuration", COMMAND_SECONDS, (deadline) =>
        writeConfiguration(operation, deadline),
    );

    await stretchLock(operation, JOIN_LEASE_SECONDS, commandDeadline());
    const memberId = await join(operation, material);
    await settle(operation, memberId);
    return memberId;
}

/**
 * Goes on with a join of ours that was interrupted after its etcd had started: from there k0s gets to the end by itself, if
 * its service runs.
 */
export async function continueController(operation: HostOperation, own: Member): Promise<bigint> {
    const { log, inputs } = operation;
    operation.progress.memberId = own.id;
    await stretchLock(operation, JOIN_LEASE_SECONDS, commandDeadline());
    await runStage(log, "starting k0s", COMMAND_SECONDS, (deadline) => startService(operation, deadline));
    const others = idsOf(operation).filter((id) => id !== own.id);
    let memberId = 0n;
    await runStage(log, "joining etcd", inputs.timeouts.etcdJoin, async (deadline) => {
        memberId = await waitForVoter(operation, others, deadline);
        return "voter";
    });
    await settle(operation, memberId);
    return memberId;
}

/** From the token to a voter. */
function join(operation: HostOperation, material: CopyPlan): Promise<bigint> {
    const { log, inputs } = operation;
    return withJoinToken(operation, async () => {
        let memberId = 0n;
        await runStage(log, "installing k0s", COMMAND_SECONDS, (deadline) => installService(operation, deadline));
        await ownConfiguration(operation, material);
        await proveJoinable(operation, "starting k0s");
        await runStage(log, "starting k0s", COMMAND_SECONDS, (deadline) => startService(operation, deadline));
        await runStage(log, "joining etcd", inputs.timeouts.etcdJoin, async (deadline) => {
            memberId = await waitForVoter(operation, idsOf(operation), deadline);
            return "voter";
        });
        return memberId;
    });
}

/** From a voter to a node that is proven to be one of this cluster, and marked. */
async function settle(operation: HostOperation, memberId: bigint): Promise<void> {
    const { log, inputs } = operation;
    const { api, etcdJoin, ready } = inputs.timeouts;
    await stretchLock(operation, SHORT_LEASE_SECONDS, Deadline.afterSeconds(api));
    await runStage(log, "verifying the etcd cluster", api, (deadline) =>
        verifyEtcdCluster(operation, memberId, deadline),
    );
    await runStage(log, "waiting for the API server", api, (deadline) => waitForApi(operation, deadline));
    await runStage(log, "waiting for the EtcdMember", etcdJoin, (deadline) =>
        waitForEtcdMemberObject(operation, memberId, deadline),
    );
    await runStage(log, "waiting for the Node", ready, (deadline) => waitForNode(operation, deadline));
    await proveLock(operation, commandDeadline());
    await runStage(log, "un-cordoning", COMMAND_SECONDS, () => uncordonNode(operation));
    await runStage(log, "verifying etcd", api, (deadline) =>
        verifyMembership(operation, { added: memberId }, deadline),
    );
    await registerWithMke(operation, true);
    await relabelForSelinux(operation);
    await installEtcdMaintenance(operation);
    await backUp(operation, "after", "add");
    await proveLock(operation, commandDeadline());
    await runStage(log, "marking the node", COMMAND_SECONDS, async (deadline) => {
        await markNode(operation, undefined);
        await noteFlags(operation, deadline);
        await markHost(operation, undefined, deadline);
        await blankLeftToken(operation, deadline);
    });
}

function idsOf({ clusterFacts }: HostOperation): bigint[] {
    return clusterFacts.members.map(({ id }) => id);
}
