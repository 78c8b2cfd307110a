import { refuseForeignContent, refuseOtherDirectories } from "../decide/directories";
import { isOurs } from "../decide/identity";
import { isAfterEnd } from "../decide/last-controller";
import { refuseBesideK0sctl } from "../decide/others-at-work";
import { openHost } from "../adapters/ssh/pool";
import type { HostView } from "../adapters/host";
import { machineOf } from "../adapters/host/machine";
import { ConnectionError, type MkeError, reasonOf } from "../errors";
import type { HostFacts } from "../facts/host";
import type { NodeInputs, NodeKind } from "../inputs";
import { removeEtcdMaintenance } from "../pipelines/material";
import type { Machine } from "../stages/operation";
import { resetMachine } from "../pipelines/remove-worker";
import { runStage } from "../stages/stage";
import { stopService } from "../stages/reset-host";
import { refusedBy } from "./decide";
import { logOf, probeTarget } from "./session";
import { inputsOf, type NodeOutputs } from "./state";

/**
 * Clusters whose last controller this process has removed. It is the record for what the same `destroy` deletes later; for
 * the last controller itself, whose removal may be killed half-way, the record is in its machine's marker.
 */
const ended = new Set<string>();

export function rememberEnd(clusterId: string | undefined): void {
    if (clusterId !== undefined) ended.add(clusterId);
}

/**
 * Removes what is left of a node on its machine, where the recorded end of its cluster leaves nothing else to do (safety.md 24).
 * False: the cluster has not ended, as far as is recorded.
 */
export async function removedAfterEnd(kind: NodeKind, outs: NodeOutputs): Promise<boolean> {
    const inputs = inputsOf(outs);
    const isRecorded = outs.clusterId !== undefined && ended.has(outs.clusterId);
    const mayHaveEnded = kind === "controller" && inputs.onLastController === "reset";
    if (!isRecorded && !mayHaveEnded) return false;
    const target = openHost(inputs.host, inputs.connection);
    const host = await probe(target, inputs);
    if (host === undefined) return isRecorded && withoutMachine(inputs);
    if (!isRecorded && !isAfterEnd(host, outs)) return false;
    await resetOurs(kind, inputs, outs, { target, host });
    return true;
}

/**
 * Resets the only controller that is left, whose k0s does not run and cannot be started: with it the cluster ends. The program has
 * asked for it in so many words (safety.md 24).
 */
export async function resetAlone(inputs: NodeInputs, outs: NodeOutputs, error: MkeError): Promise<void> {
    const log = logOf(inputs);
    const target = openHost(inputs.host, inputs.connection);
    const host = await probe(target, inputs);
    if (host === undefined) throw error;
    log.line(`${reasonOf(error)}: the cluster ends with it, and whether it has other Nodes could not be looked at`);
    await resetOurs("controller", inputs, outs, { target, host });
    rememberEnd(outs.clusterId);
}

async function resetOurs(
    kind: NodeKind,
    inputs: NodeInputs,
    outs: NodeOutputs,
    { target, host }: { readonly target: HostView; readonly host: HostFacts },
): Promise<void> {
    const { clusterId = "", caFingerprint = "", token, machineId, installedBinary } = outs;
    const log = logOf(inputs);
    const known = machineId === undefined ? { token } : { token, machineId };
    const { ours, why } = isOurs(host, known, { clusterId, caFingerprint });
    if (!ours) {
        log.line(`its cluster has ended, and nothing is done on ${inputs.host}: ${why}`, "quiet");
        return;
    }
    const unsafe =
        refuseBesideK0sctl(host) ?? refuseOtherDirectories({ role: inputs.role, host }) ?? refuseForeignContent(host);
    if (unsafe !== undefined) throw refusedBy(unsafe, inputs.host);
    const progress = { hostChanged: true, installedBinary };
    const machine: Machine = {
        ...{ kind, inputs, log, hostFacts: host, progress },
        target: target.onMachine(machineOf(host)),
    };
    log.line("its cluster has ended: only the machine is reset");
    await runStage(log, "stopping k0s", inputs.timeouts.stop, (deadline) => stopService(machine, deadline));
    await removeEtcdMaintenance(machine);
    await resetMachine(machine, { machine: "reset" });
}

async function probe(target: HostView, inputs: NodeInputs): Promise<HostFacts | undefined> {
    try {
        return await probeTarget(target, inputs);
    } catch (error) {
        if (error instanceof ConnectionError) return undefined;
        throw error;
    }
}

/** Neither cluster nor machine answer: gone only where the program says that this counts as gone. */
function withoutMachine(inputs: NodeInputs): boolean {
    if (inputs.onUnreachable !== "remove-from-cluster") {
        throw new ConnectionError({
            stage: "resetting",
            host: inputs.host,
            what: "the host does not answer, and its cluster has ended",
            advice: 'Make it answer, or set `onUnreachable: "remove-from-cluster"` to leave the machine as it is.',
        });
    }
    logOf(inputs).line("its cluster has ended and its host does not answer: nothing is done", "quiet");
    return true;
}
