import type { Host } from "../adapters/host";
import { openHost } from "../adapters/ssh/pool";
import { Deadline } from "../deadline";
import { RefusedError } from "../errors";
import { readCluster } from "../facts/cluster-view";
import { type ClusterConnection, connectController } from "../facts/controller";
import type { ClusterFacts } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import type { NodeInputs } from "../inputs";
import { resetMachine } from "../pipelines/remove-worker";
import { runStage } from "../pipelines/stage";
import { stopService } from "../stages/reset-host";
import { logOf, probePaths, type Session } from "./session";
import type { NodeOutputs } from "./state";
import { operationOf, underLock, withHost } from "./under-lock";

const LOOK_SECONDS = 60;

/**
 * Removes the last controller, and with it the cluster. It has no survivor to help, so it is asked itself (safety.md 24).
 * Answers false when it is not the last one: then the error that led here stands. Fails when the program does not ask for
 * this in so many words, or while other Nodes exist.
 */
export async function removeLastController(inputs: NodeInputs, outs: NodeOutputs): Promise<boolean> {
    const target = openHost(inputs.host, inputs.connection);
    const alone = await connectAlone(target, inputs, outs);
    if (alone === undefined) return false;
    const session: Session = {
        inputs,
        log: logOf(inputs),
        target,
        cluster: alone.cluster,
        close: () => alone.cluster.close(),
    };
    try {
        refuseUnlessAsked(inputs, outs, alone.facts);
        await underLock("controller", session, outs.nodeName, async (held) => {
            const facts = await readCluster(alone.cluster, {}, Deadline.afterSeconds(LOOK_SECONDS));
            refuseUnlessAsked(inputs, outs, facts);
            const situation = {
                host: alone.host,
                unreachable: undefined,
                cluster: facts,
                nodeName: outs.nodeName,
                peerAddress: outs.peerAddress ?? inputs.host,
                targetEtcd: undefined,
            };
            const host = withHost(operationOf("controller", session, held, situation, outs), session, situation);
            if (host === undefined) return;
            await held.prove();
            await runStage(session.log, "stopping the last controller", inputs.timeouts.stop, (deadline) =>
                stopService(host, deadline),
            );
            await resetMachine(host, { machine: "reset" });
        });
        return true;
    } finally {
        session.close();
    }
}

interface Alone {
    readonly host: HostFacts;
    readonly cluster: ClusterConnection;
    readonly facts: ClusterFacts;
}

/** The target as its own helper, only where it is the one member of the cluster that the state names. */
async function connectAlone(target: Host, inputs: NodeInputs, outs: NodeOutputs): Promise<Alone | undefined> {
    const deadline = Deadline.afterSeconds(LOOK_SECONDS);
    let cluster: ClusterConnection | undefined;
    try {
        const host = await target.probe(probePaths(inputs), deadline);
        cluster = await connectController(target, host, deadline);
        const facts = await readCluster(cluster, {}, deadline);
        const isAlone = facts.members.length === 1 && facts.members[0]?.id === cluster.helperFacts.memberId;
        if (isAlone && cluster.helperFacts.clusterId === outs.clusterId) return { host, cluster, facts };
    } catch {
        // Not to be asked, so not known to be the last: the caller's own error says more.
    }
    cluster?.close();
    return undefined;
}

function refuseUnlessAsked(
    { host, onLastController }: NodeInputs,
    { nodeName }: NodeOutputs,
    { nodes }: ClusterFacts,
): void {
    const others = nodes.map(({ name }) => name).filter((name) => name !== nodeName);
    if (onLastController === "reset" && others.length === 0) return;
    throw new RefusedError({
        stage: "removing the last controller",
        host,
        what:
            onLastController === "reset"
                ? `other Nodes still exist: ${others.join(", ")}`
                : "it is the last controller: its removal ends the cluster and everything in it",
        advice:
            onLastController === "reset"
                ? "Remove them first. Nothing was changed."
                : 'Set `onLastController: "reset"` and run `pulumi up` if that is what you want. Nothing was changed.',
        topic: "quorum",
    });
}
