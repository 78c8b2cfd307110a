import { planEndOfCluster } from "../decide/last-controller";
import { refuseBesideK0sctl } from "../decide/others-at-work";
import { NOT_BEGUN_ADVICE } from "../decide/refusal";
import { RefusedError } from "../errors";
import { backUp } from "../pipelines/backups";
import { refuseWhileVersionsMove } from "../pipelines/checks";
import { removeEtcdMaintenance } from "../pipelines/material";
import type { HostOperation } from "../stages/operation";
import { resetMachine } from "../pipelines/remove-worker";
import { runStage } from "../stages/stage";
import { COMMAND_SECONDS } from "../stages/timing";
import { proveUnchanged } from "../stages/baseline";
import { markHost, recordInLock, recordOf } from "../stages/record-operation";
import { stopService } from "../stages/reset-host";
import { rememberEnd } from "./after-end";
import { knowledgeOf, refuseIfSaid, removalSituation } from "./decide";
import { look, type Situation } from "./look";
import type { Session } from "./session";
import type { NodeOutputs } from "./state";
import { decideAfter } from "./this-run";
import { operationOf, underLock, withHost } from "./under-lock";

const STAGE = "removing the last controller";

/**
 * Removes the last controller, and with it the cluster. It has no survivor to help, so it is asked itself (safety.md 24).
 * Refused while other Nodes exist; those that this very run removes are waited for.
 */
export async function removeLastController(
    session: Session,
    outs: NodeOutputs,
    others: () => readonly string[],
    started: () => void,
): Promise<void> {
    const { inputs, log } = session;
    if (!(await readyToEnd(session, outs, others))) return;
    await underLock("controller", session, outs, async (held) => {
        const situation = await look(session, outs, held.lease);
        const { allowed, otherNodes } = isEnd(session, outs, situation);
        if (otherNodes.length > 0) throw nodesLeft(inputs.host, otherNodes);
        if (!allowed) return;
        const host = withHost(operationOf("controller", session, held, situation, outs), session, situation);
        if (host === undefined) return;
        await refuseWhileVersionsMove(host);
        started();
        await backUp(host, "before");
        await proveUnchanged(host, STAGE);
        await recordEnd(host);
        await runStage(log, "stopping the last controller", inputs.timeouts.stop, (deadline) =>
            stopService(host, deadline),
        );
        held.forget();
        rememberEnd(outs.clusterId);
        await removeEtcdMaintenance(host);
        await resetMachine(host, { machine: "reset" });
    });
}

/** From here on a stopped k0s on this machine means that the cluster has ended, and the next `delete` only resets it. */
async function recordEnd(host: HostOperation): Promise<void> {
    const { helperFacts } = host.cluster;
    const record = { ...recordOf(host, "remove", helperFacts.memberId), endsCluster: true };
    await runStage(host.log, "recording the operation", COMMAND_SECONDS, async (deadline) => {
        await recordInLock(host, record);
        await markHost(host, record, deadline);
    });
}

async function readyToEnd(session: Session, outs: NodeOutputs, others: () => readonly string[]): Promise<boolean> {
    // A node that has gone from the cluster may still have its machine's side to do, under a lock in the cluster.
    const { allowed, otherNodes } = await decideAfter({
        others,
        log: session.log,
        decide: async () => isEnd(session, outs, await look(session, outs)),
        isFinal: (end) => !end.allowed,
    });
    if (otherNodes.length > 0) throw nodesLeft(session.inputs.host, otherNodes);
    return allowed;
}

/** Throws where the cluster must not end, whatever becomes of its other Nodes. */
function isEnd(
    session: Session,
    outs: NodeOutputs,
    situation: Situation,
): { readonly allowed: boolean; readonly otherNodes: readonly string[] } {
    const { inputs, log } = session;
    const plan =
        refuseBesideK0sctl(situation.host) ??
        planEndOfCluster(removalSituation(session, situation, knowledgeOf(outs)), inputs);
    refuseIfSaid(plan, inputs.host);
    if (plan.kind === "leave-alone") {
        log.line(plan.why, "quiet");
        return { allowed: false, otherNodes: [] };
    }
    return { allowed: true, otherNodes: plan.otherNodes };
}

function nodesLeft(host: string, names: readonly string[]): RefusedError {
    return new RefusedError({
        stage: STAGE,
        host,
        what: `other Nodes still exist: ${names.join(", ")}`,
        advice: `Nothing was changed. Remove them first. ${NOT_BEGUN_ADVICE}`,
    });
}
