import { sharedAddresses } from "../address";
import { Deadline } from "../deadline";
import { CommandError, messageOf, TimeoutError, withAdvice } from "../errors";
import type { NodeSettings, OperationRecord } from "../facts/host";
import { requireStableCluster, verifyMembership } from "../stages/check-cluster";
import { checkVersions } from "../stages/check-versions";
import { planReinstall, type ReinstallPlan, tryReinstall } from "../stages/plan-reinstall";
import { proveLock, stretchLock } from "../stages/prove-lock";
import { markHost, noteFlags, recordInLock, recordOf } from "../stages/record-operation";
import {
    mayGoBack,
    ownMember,
    putBack,
    requireRestartable,
    rewriteService,
    waitForKubelet,
    writeConfigAgain,
} from "../stages/reinstall-service";
import { restartService, startService } from "../stages/install-service";
import { verifyEtcdCluster, waitForApi } from "../stages/verify-controller";
import { waitForNode } from "../stages/wait-for-node";
import { waitForService } from "../stages/wait-for-service";
import { changeEntry } from "./mke";
import type { HostOperation } from "../stages/operation";
import { nothingToDo, runStage } from "../stages/stage";
import {
    CHECK_SECONDS,
    COMMAND_SECONDS,
    commandDeadline,
    JOIN_LEASE_SECONDS,
    SHORT_LEASE_SECONDS,
} from "../stages/timing";

/** What `before` and the program differ in, as far as the host does not have it already; undefined: nothing. */
export async function foreseeReinstall(
    operation: HostOperation,
    before: NodeSettings,
): Promise<ReinstallPlan | undefined> {
    let plan: ReinstallPlan | undefined;
    await runStage(operation.log, "comparing k0s settings", CHECK_SECONDS, async (deadline) => {
        plan = await planReinstall(operation, before, deadline);
        if (plan === undefined) return nothingToDo("nothing to change");
        await tryReinstall(operation, plan, deadline);
        plan.notes.forEach((note) => operation.log.line(note, "quiet"));
        return plan.restart ? "k0s is to be restarted" : "no restart is needed";
    });
    return plan;
}

/**
 * Gives a running node's k0s other settings (flags, taints, configuration) and starts it with them, then has MkeConfig list
 * them. One controller at a time, with all others healthy; never a reset, and the node stays the member and the Node that it
 * is. It ends without its mark: the caller marks the node, and with that the record of the reinstall goes. `stopped`: its
 * service is to be enabled as well.
 */
export async function reinstallNode(
    operation: HostOperation,
    plan: ReinstallPlan,
    { stopped }: { readonly stopped: boolean },
): Promise<void> {
    const { log } = operation;
    const restart = plan.restart || stopped;
    await check(operation, restart);
    const record = { ...recordOf(operation, "reinstall"), restart };
    const recordOnHost: OperationRecord = { ...record, settings: plan.settings };
    await runStage(log, "recording the operation", COMMAND_SECONDS, async (deadline) => {
        await recordInLock(operation, record);
        await markHost(operation, recordOnHost, deadline);
    });
    await write(operation, plan);
    if (restart) await restartToTheEnd(operation, plan, stopped);
    await noteFlags(operation, commandDeadline());
    if (plan.entry === undefined) return;
    // k0s runs with its new settings: what is left to do is no reason for another restart.
    if (restart) await markHost(operation, { ...recordOnHost, restart: false }, commandDeadline());
    await changeEntry(operation, plan.entry);
}

async function restartToTheEnd(operation: HostOperation, plan: ReinstallPlan, stopped: boolean): Promise<void> {
    const { log, inputs, kind } = operation;
    await restartWith(operation, plan, stopped);
    if (kind === "controller") await waitUntilKubeletListens(operation);
    await runStage(log, "waiting for the Node", inputs.timeouts.ready, (deadline) => waitForNode(operation, deadline));
}

function waitUntilKubeletListens(operation: HostOperation): Promise<void> {
    return runStage(operation.log, "waiting for kubelet", operation.inputs.timeouts.ready, (deadline) =>
        waitForKubelet(operation, deadline),
    );
}

/** For a join that did not end, perhaps because of what k0s was given (`before`): it gets what the program says now. */
export async function correctSettings(operation: HostOperation, before: NodeSettings): Promise<void> {
    const plan = await foreseeReinstall(operation, before);
    if (plan === undefined) return;
    const { log, inputs } = operation;
    await write(operation, plan);
    await (isVoter(operation)
        ? restartWith(operation, plan, false)
        : runStage(log, "restarting k0s", inputs.timeouts.stop, (deadline) => restartService(operation, deadline)));
    // Its entry may have been written before the join was interrupted.
    if (plan.entry !== undefined) await changeEntry(operation, plan.entry);
}

/** The others count on it already. */
function isVoter(operation: HostOperation): boolean {
    const own = ownMember(operation);
    return operation.kind === "controller" && own !== undefined && own.name !== "" && !own.learner;
}

async function write(operation: HostOperation, plan: ReinstallPlan): Promise<void> {
    const { log } = operation;
    if (plan.config !== undefined)
        await runStage(log, "writing configuration", COMMAND_SECONDS, (deadline) =>
            writeConfigAgain(operation, plan, deadline),
        );
    await runStage(log, "reinstalling k0s", COMMAND_SECONDS, (deadline) => rewriteService(operation, plan, deadline));
}

async function check(operation: HostOperation, restart: boolean): Promise<void> {
    const { log, inputs, kind } = operation;
    await runStage(log, "comparing versions", CHECK_SECONDS, () => checkVersions(operation, false));
    if (kind === "worker" || !restart) return;
    const own = ownMember(operation);
    const exempt = { nodeNames: bystanders(operation), memberIds: own === undefined ? [] : [own.id] };
    await runStage(log, "checking the cluster", inputs.timeouts.ready, (deadline) =>
        requireStableCluster(operation, exempt, deadline),
    );
}

/** The node itself, and workers: a broken one is no reason to leave the controllers as they are. */
function bystanders({ nodeName, clusterFacts: { nodes, members } }: HostOperation): string[] {
    const peers = members.flatMap(({ peerHosts }) => peerHosts);
    const workers = nodes.filter(({ addresses }) => sharedAddresses(addresses, peers).length === 0);
    return [nodeName, ...workers.map(({ name }) => name)];
}

async function restartWith(operation: HostOperation, plan: ReinstallPlan, stopped: boolean): Promise<void> {
    const { log, inputs, kind } = operation;
    const { stop, api } = inputs.timeouts;
    const isController = kind === "controller";
    if (isController) await stretchLock(operation, JOIN_LEASE_SECONDS, commandDeadline());
    const restart = { begun: false };
    try {
        await runStage(log, "restarting k0s", stop, async (deadline) => {
            await requireRestartable(operation);
            restart.begun = true;
            await (stopped ? startService(operation, deadline) : restartService(operation, deadline));
        });
        await waitForRestarted(operation);
    } catch (error) {
        throw restart.begun ? await goBack(operation, plan, error) : error;
    }
    if (!isController) return proveLock(operation, commandDeadline());
    await stretchLock(operation, SHORT_LEASE_SECONDS, Deadline.afterSeconds(api));
    const own = ownMember(operation);
    if (own !== undefined)
        await runStage(log, "verifying the etcd cluster", api, (deadline) =>
            verifyEtcdCluster(operation, own.id, deadline),
        );
    await runStage(log, "waiting for the API server", api, (deadline) => waitForApi(operation, deadline));
    await runStage(log, "verifying etcd", api, (deadline) => verifyMembership(operation, {}, deadline));
}

/**
 * For a controller also where the engine has gone meanwhile: of one or two controllers, one that does not come up leaves nobody
 * an API, and no later run could put its settings back. A worker's k0s answers although its kubelet cannot start.
 */
async function waitForRestarted(operation: HostOperation): Promise<void> {
    const isController = operation.kind === "controller";
    await runStage(
        operation.log,
        "waiting for k0s",
        operation.inputs.timeouts.api,
        (deadline) => waitForService(operation, deadline, isController ? { seesItThrough: true } : {}),
        { belongsTogether: isController },
    );
    if (!isController) await waitUntilKubeletListens(operation);
}

/** Where k0s did not come up. Answers the error that counts, `cause`, with what has become of the settings. */
async function goBack(operation: HostOperation, plan: ReinstallPlan, cause: unknown): Promise<unknown> {
    const isItsFault = cause instanceof TimeoutError || cause instanceof CommandError;
    if (plan.back.length === 0 || !isItsFault) return cause;
    try {
        return withAdvice(cause, await backToWhatWorked(operation, plan));
    } catch (error) {
        const why = messageOf(error);
        operation.log.line(`the old settings could not be put back: ${why}`, "quiet");
        return withAdvice(cause, `Its old settings could not be put back: ${why.split("\n", 1).join()}.`);
    }
}

async function backToWhatWorked(operation: HostOperation, plan: ReinstallPlan): Promise<string> {
    const { log, inputs } = operation;
    if (!(await mayGoBack(operation, commandDeadline()))) {
        log.line("k0s answers and other members of etcd are not healthy: it is not restarted again", "quiet");
        return "It keeps its new settings: k0s answers, and other members of etcd are not healthy.";
    }
    await runStage(
        log,
        "putting the old settings back",
        inputs.timeouts.stop,
        (deadline) => putBack(operation, plan, deadline),
        { belongsTogether: true },
    );
    await waitForRestarted(operation);
    return "Its old settings were put back, and k0s runs with them.";
}
