import type { RemovePlan } from "../decide/plan";
import { Deadline } from "../deadline";
import { defined } from "../defined";
import { sharedAddresses } from "../address";
import { type ClusterFacts, type Member, memberIdFromHex } from "../facts/cluster";
import { requireStableCluster, verifyMembership } from "../stages/check-cluster";
import {
    deleteControllerLease,
    deleteControlNode,
    deleteEtcdMember,
    deleteNode,
    waitUntilMarkedLeft,
} from "../stages/delete-objects";
import { KubeletWatch } from "../stages/kubelet-watch";
import { tellEtcdLeftovers } from "../stages/configuration-notes";
import { leaveById, leaveBySpec, moveLeadership, proveLeft, waitUntilLeft } from "../stages/leave-etcd";
import { proveLock, stretchLock } from "../stages/prove-lock";
import { recordRemoved } from "../stages/record-removed";
import { stopService } from "../stages/reset-host";
import { backUp } from "./backups";
import { checkVersionsBeforeRemoval } from "./checks";
import { removeEtcdMaintenance } from "./material";
import type { Operation } from "../stages/operation";
import { deregister, drain, recordRemoval, resetMachine, type WorkerRemoval } from "./remove-worker";
import { runStage } from "../stages/stage";
import { COMMAND_SECONDS, commandDeadline, JOIN_LEASE_SECONDS, SHORT_LEASE_SECONDS } from "../stages/timing";

/** What of a controller is left to remove: decided by the matrix, found in the facts. */
export interface ControllerRemoval
    extends WorkerRemoval, Pick<RemovePlan, "howToLeave" | "member" | "object" | "controlNode" | "resumes"> {}

/**
 * Takes one controller out: drained, out of etcd as a survivor sees it, its records deleted, its machine reset. Drain comes
 * before the leave, because the kubelet ends with it (k0s-interfaces.md 3.5); only broken hosts follow the other order.
 */
export async function removeController(operation: Operation, removal: ControllerRemoval): Promise<void> {
    const { log, inputs, held } = operation;
    const { host, member, steps } = removal;
    const finished = finishedLeave(operation, removal);
    await checkBeforeRemoval(operation, removal, finished !== undefined);
    if (member !== undefined) await backUp(operation, "before", "remove");
    await recordRemoval(operation, removal, member?.id ?? finished);

    if (steps.order === "object-first") await deleteObject(operation, removal);
    const hasEnded = steps.order !== "leave-first" && (await endsInDrain(operation, removal));
    await stretchLock(operation, JOIN_LEASE_SECONDS, commandDeadline());
    // One that has ended meanwhile cannot take itself out (safety.md 10).
    await leaveEtcd(operation, hasEnded ? { ...removal, howToLeave: "member-remove" } : removal);
    if (member !== undefined) await proveLeft(operation, member.id);
    if (steps.order === "leave-first") await waitUntilMarked(operation, removal);
    await proveLock(operation, commandDeadline());
    if (host !== undefined)
        await runStage(log, "stopping k0s", inputs.timeouts.stop, (deadline) => stopService(host, deadline));
    await stretchLock(operation, SHORT_LEASE_SECONDS, Deadline.afterSeconds(inputs.timeouts.api));
    if (steps.order !== "object-first") await deleteObject(operation, removal);
    if (hasEnded || steps.order === "leave-first") await drainIfAsked(operation, removal);
    await deleteRecords(operation, removal);
    if (host !== undefined) {
        await held.prove();
        await removeEtcdMaintenance(host);
        await resetMachine(host, steps, () => proveLock(operation, commandDeadline()));
        tellEtcdLeftovers(operation);
    }
    await runStage(log, "verifying etcd", inputs.timeouts.api, (deadline) =>
        verifyMembership(operation, defined({ removed: member?.id }), deadline),
    );
    const gone = member?.id ?? finished;
    if (gone !== undefined)
        await runStage(log, "noting the removal", COMMAND_SECONDS, () => recordRemoved(operation, gone, host));
    const membershipChanged = gone !== undefined;
    await deregister(operation, removal, membershipChanged);
    if (membershipChanged) await backUp(operation, "after", "remove");
}

/**
 * The rest of the cluster must be sound before a member goes (spec/000, "out-of-scope members are healthy"). A target that is
 * not healthy itself is taken out although other controllers are not either, as far as quorum allows: that mends the cluster.
 * What is left of one whose member went in an earlier run changes no membership any more: it waits for nobody.
 */
async function checkBeforeRemoval(
    operation: Operation,
    { member }: ControllerRemoval,
    isFinishing: boolean,
): Promise<void> {
    const { log, inputs, nodeName, clusterFacts } = operation;
    const isBroken = member !== undefined && member.health !== "healthy";
    const unhealthy = clusterFacts.members.filter(({ name, health }) => name !== "" && health !== "healthy");
    const broken = isBroken ? unhealthy : [];
    const memberIds = [...(member === undefined ? [] : [member.id]), ...broken.map(({ id }) => id)];
    const nodeNames = [nodeName, ...nodesOf(broken, clusterFacts)];
    await checkVersionsBeforeRemoval(operation);
    if (isFinishing) return;
    await runStage(log, "checking the cluster", inputs.timeouts.ready, (deadline) =>
        requireStableCluster(operation, { nodeNames, memberIds }, deadline),
    );
}

function nodesOf(members: readonly Member[], { nodes }: ClusterFacts): string[] {
    const peers = members.flatMap(({ peerHosts }) => peerHosts);
    return nodes.filter(({ addresses }) => sharedAddresses(addresses, peers).length > 0).map(({ name }) => name);
}

/**
 * The member that an earlier run of this removal took out, which did not get to its end: a second interruption must find it
 * again, and what follows a change of members is still to be done.
 */
function finishedLeave({ held, inputs }: Operation, { member, resumes }: ControllerRemoval): bigint | undefined {
    const isOurs = held.found?.target === inputs.host && held.found.owner === inputs.owner;
    const record = resumes ?? (isOurs ? held.found : undefined);
    if (member !== undefined || record?.removing === undefined || record.kind === "add") return undefined;
    return memberIdFromHex(record.removing);
}

/** k0s updates the object within 11 s (observed.md); a minute is patience enough once etcd has spoken. */
const OBJECT_PATIENCE = 60_000;

/** Where the matrix says to wait for the object, the wait failing is the removal failing, with the host as it was. */
async function waitUntilMarked(operation: Operation, { object, steps, resumes }: ControllerRemoval): Promise<void> {
    if (object === undefined || steps.leave !== "wait-joined-false" || resumes !== undefined) return;
    await runStage(operation.log, "waiting for Joined=False", operation.inputs.timeouts.leave, (deadline) =>
        waitUntilMarkedLeft(operation, object, deadline),
    );
}

async function deleteObject(operation: Operation, removal: ControllerRemoval): Promise<void> {
    const { object, steps } = removal;
    if (object === undefined || !steps.deleteObject) return;
    if (steps.order === "object-first") await waitUntilMarked(operation, removal);
    await runStage(operation.log, "deleting the EtcdMember", operation.inputs.timeouts.leave, (deadline) =>
        deleteEtcdMember(operation, object, deadline.within(OBJECT_PATIENCE)),
    );
}

async function drainIfAsked(
    operation: Operation,
    { node, steps }: ControllerRemoval,
    watch?: KubeletWatch,
): Promise<void> {
    if (node !== undefined && steps.drain) await drain(operation, watch);
}

/** True where nobody reaches the host and its kubelet ends meanwhile: the rest of the drain follows the leave then. */
async function endsInDrain(operation: Operation, removal: ControllerRemoval): Promise<boolean> {
    const { host, node } = removal;
    const watch = host === undefined && node !== undefined ? KubeletWatch.of(operation, node) : undefined;
    await drainIfAsked(operation, removal, watch);
    return watch?.hasEnded === true;
}

async function leaveEtcd(operation: Operation, removal: ControllerRemoval): Promise<void> {
    const { log, inputs } = operation;
    const { member, steps } = removal;
    if (member === undefined) return;
    if (steps.leave === "wait-left") {
        await runStage(log, "waiting for the member to leave", inputs.timeouts.leave, (deadline) =>
            waitUntilLeft(operation, member, deadline),
        );
    } else if (steps.leave === "leave") {
        await moveLeadershipAway(operation, removal, member);
        await runStage(log, "leaving etcd", inputs.timeouts.leave, (deadline) =>
            removal.howToLeave === "spec-leave" && removal.object !== undefined
                ? leaveBySpec(operation, member, removal.object, deadline)
                : leaveById(operation, member, removal.object, deadline),
        );
    }
}

async function moveLeadershipAway(operation: Operation, { host }: ControllerRemoval, member: Member): Promise<void> {
    if (host === undefined || member.learner || member.health !== "healthy") return;
    await runStage(operation.log, "moving etcd leadership", COMMAND_SECONDS, (deadline) =>
        moveLeadership(operation, host.target, member, deadline),
    );
}

async function deleteRecords(operation: Operation, { node, controlNode, member }: ControllerRemoval): Promise<void> {
    const { log } = operation;
    await proveLock(operation, commandDeadline());
    if (node !== undefined)
        await runStage(log, "deleting the Node", COMMAND_SECONDS, () => deleteNode(operation, node));
    if (controlNode !== undefined)
        await runStage(log, "deleting the ControlNode", COMMAND_SECONDS, () =>
            deleteControlNode(operation, controlNode),
        );
    if (isSomebodyElses(operation, member)) return;
    // It goes by its name alone.
    await proveLock(operation, commandDeadline());
    await runStage(log, "deleting the controller's lease", COMMAND_SECONDS, () => deleteControllerLease(operation));
}

/** By now another controller may have the name, and its lease with it. */
function isSomebodyElses({ clusterFacts, nodeName }: Operation, own: Member | undefined): boolean {
    return clusterFacts.members.some(({ id, name }) => name === nodeName && id !== own?.id);
}
