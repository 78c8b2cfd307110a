import type { Host } from "../adapters/host";
import type { ClusterFacts } from "../facts/cluster";
import type { ClusterConnection } from "../facts/helper";
import type { HostFacts, OperationRecord, PutOnHost } from "../facts/host";
import type { NodeInputs, NodeKind } from "../inputs";
import type { HeldLock } from "../lock";
import type { Log } from "../log";

/** What a pipeline works with: one node, one cluster, the lock that is held, and the facts the decision was made on. */
export interface Operation {
    /** Unique; in the lock, the marker and the annotations (safety.md 11). */
    readonly id: string;
    readonly kind: NodeKind;
    readonly inputs: NodeInputs;
    readonly log: Log;
    readonly cluster: ClusterConnection;
    readonly clusterFacts: ClusterFacts;
    readonly held: HeldLock;
    readonly nodeName: string;
    /** Address of the etcd peer or of the kubelet. */
    readonly peerAddress: string;
    /** An earlier run of ours began something on this node and did not end. */
    readonly begunBefore: boolean;
    /** Ownership token of the resource (safety.md 6). */
    readonly token: string;
    readonly progress: Progress;
    /** Runs the action while no more nodes of the cluster drain than `drain.concurrency` allows (safety.md 21). */
    readonly takingTurnToDrain: <T>(action: (turn: Pick<HeldLock, "prove">) => Promise<T>) => Promise<T>;
}

/** What has happened so far; a failure that left nothing behind is reported without keeping the resource in state. */
export interface Progress {
    /** Something was written to the host: the marker is the first. */
    hostChanged: boolean;
    /** The k0s program on the host is one we put there; a removal takes it away again. */
    installedBinary: boolean;
    /** The program's flags as its service has them, once this operation knows: for the next marker. */
    flags?: readonly string[];
    /** The etcd member that joins, once it was seen; for state, where a join does not get to its end. */
    memberId?: bigint;
    /** What the marker says of it, once this operation has written one: the operation and what we put on the host. */
    marked?: { readonly record: OperationRecord | undefined; readonly put: PutOnHost | undefined };
}

/** An operation whose host answers. */
export interface HostOperation extends Operation {
    readonly target: Host;
    readonly hostFacts: HostFacts;
}

/** What of an operation is about its machine alone, also where there is no cluster any more. */
export type Machine = Pick<HostOperation, "inputs" | "log" | "kind" | "progress" | "target" | "hostFacts">;

export function runsWorkloads({ inputs }: Pick<Operation, "inputs">): boolean {
    return inputs.role !== "controller";
}
