import { memberAt } from "../address";
import { markerOf } from "../decide/identity";
import { type EtcdMemberObject, memberIdToHex } from "../facts/cluster";
import { deleteEtcdMember } from "../stages/delete-objects";
import { markHost } from "../stages/record-operation";
import { markNode, reconcileLabels, reconcileTaints } from "../stages/mark-node";
import { readApiServer } from "../stages/api-server";
import { blankLeftToken, restartService } from "../stages/install-service";
import { requireQuorumWithout, waitForService } from "../stages/wait-for-service";
import { waitForNode } from "../stages/wait-for-node";
import { registerWithMke } from "./mke";
import type { HostOperation } from "../stages/operation";
import { runStage } from "../stages/stage";
import { COMMAND_SECONDS } from "../stages/timing";

/** A host that is already what it should be: marker, annotation and MkeConfig, nothing else (scenario 2). */
export async function adoptNode(operation: HostOperation): Promise<void> {
    const { log } = operation;
    await runStage(log, "marking the node", COMMAND_SECONDS, async (deadline) => {
        await markHost(operation, undefined, deadline);
        await blankLeftToken(operation, deadline);
        await markNode(operation, await readApiServer(operation, deadline));
    });
    await registerWithMke(operation, isInterruptedJoin(operation));
}

/** A join of ours ended after its controller was a member and before MKE heard of it: the members changed after all. */
function isInterruptedJoin({ kind, hostFacts, clusterFacts, peerAddress }: HostOperation): boolean {
    const record = markerOf(hostFacts)?.operation;
    const own = memberAt(clusterFacts.members, peerAddress);
    if (kind !== "controller" || record?.kind !== "add" || own === undefined) return false;
    return !record.baseline.includes(memberIdToHex(own.id));
}

/** An EtcdMember left behind by a removal of this very host: gone before the host counts as clean (spec/002). */
export async function deleteStaleObject(operation: HostOperation, object: EtcdMemberObject): Promise<void> {
    await runStage(operation.log, "deleting the stale EtcdMember", COMMAND_SECONDS, (deadline) =>
        deleteEtcdMember(operation, object, deadline),
    );
}

/** Scenario 3: joined, and not Ready yet. */
export async function waitForReady(operation: HostOperation): Promise<void> {
    const { log, inputs } = operation;
    await runStage(log, "waiting for the Node", inputs.timeouts.ready, (deadline) => waitForNode(operation, deadline));
    await adoptNode(operation);
}

/** Scenario 4: runs and never registered, so the service is restarted and registers again (spec/002, "Service restart"). */
export async function restartNode(operation: HostOperation): Promise<void> {
    const { log, inputs } = operation;
    await runStage(log, "restarting k0s", inputs.timeouts.stop, async (deadline) => {
        if (operation.kind === "controller") await requireQuorumWithout(operation, deadline);
        await restartService(operation, deadline);
    });
    await runStage(log, "waiting for k0s", inputs.timeouts.api, (deadline) => waitForService(operation, deadline));
    await waitForReady(operation);
}

/** Brings the Node's labels to what the program says; `previous` are those of the last run. */
export async function updateLabels(
    operation: HostOperation,
    previous: Readonly<Record<string, string>>,
): Promise<void> {
    await runStage(operation.log, "reconciling labels", COMMAND_SECONDS, () => reconcileLabels(operation, previous));
}

/** The same for its taints. */
export async function updateTaints(operation: HostOperation, previous: readonly string[]): Promise<void> {
    await runStage(operation.log, "reconciling taints", COMMAND_SECONDS, () =>
        reconcileTaints(operation, { previous, all: true }),
    );
}
