import { randomUUID } from "node:crypto";
import { type HeldLock, withLock } from "../lock";
import type { HostOperation, NodeKind, Operation } from "../pipelines/operation";
import type { Situation } from "./look";
import type { Session } from "./session";

/**
 * Runs the action under the lock of its kind: controllers share one, so that membership changes one at a time; workers have
 * one for each node name (safety.md 14).
 */
export function underLock<T>(
    kind: NodeKind,
    { inputs, cluster, log }: Session,
    nodeName: string,
    action: (held: HeldLock) => Promise<T>,
): Promise<T> {
    const request = {
        kube: () => cluster.kube,
        clusterId: cluster.helperFacts.clusterId,
        kind: kind === "controller" ? ({ controlPlane: true } as const) : { node: nodeName },
        owner: inputs.owner,
        timeoutSeconds: inputs.timeouts.lock,
        log,
    };
    return withLock(request, action);
}

/** What the pipelines work with; `situation` is the look that was decided on under the lock. */
export function operationOf(
    kind: NodeKind,
    { inputs, cluster, log }: Session,
    held: HeldLock,
    situation: Situation,
    { token, installedBinary = false }: { readonly token: string; readonly installedBinary?: boolean },
): Operation {
    return {
        id: randomUUID(),
        kind,
        inputs,
        log,
        cluster,
        clusterFacts: situation.cluster,
        held,
        nodeName: situation.nodeName,
        peerAddress: situation.peerAddress,
        token,
        progress: { hostChanged: false, installedBinary },
    };
}

/** The same operation with its host; undefined where that does not answer. */
export function withHost(operation: Operation, session: Session, situation: Situation): HostOperation | undefined {
    return situation.host === undefined
        ? undefined
        : { ...operation, target: session.target, hostFacts: situation.host };
}
