import type { ClusterFacts, ControlNodeObject, EtcdMemberObject, Member, NodeObject } from "../facts/cluster";
import type { HostFacts, OperationRecord } from "../facts/host";
import type { NodeInputs, Role } from "../inputs";
import type { VerdictReport } from "./etcd-verdict";
import type { Ownership } from "./identity";
import type { AddSteps, RemoveSteps, Scenario } from "./matrix-steps";
import type { LeaveMethod } from "./quorum";
import type { Refusal } from "./refusal";
import type { ApiAccess } from "./stranded";

/** Everything a decision is made on: found by one look at a host and a cluster, plus what state and program say. */
export interface Situation extends ApiAccess {
    readonly role: Role;
    readonly host: HostFacts;
    readonly cluster: ClusterFacts;
    readonly nodeName: string;
    /** Address of the etcd peer or of the kubelet. */
    readonly peerAddress: string;
    readonly state?: KnownNode;
    /** What the target's own etcd serves; undefined where it provably serves nothing (safety.md 2). */
    readonly targetEtcd?: TargetEtcd | SilentEtcd;
    /** Record found in the lock, in addition to the one in the host's marker (safety.md 11). */
    readonly record?: OperationRecord;
    readonly inputs: PlanInputs;
}

/** A removal may have to do without the host. */
export type RemovalSituation = Omit<Situation, "host"> & {
    /** undefined: unreachable. */
    readonly host: HostFacts | undefined;
    /** Why it is unreachable, where that is a host key other than the program's `connection.hostKey`. */
    readonly otherHostKey?: string;
    /** Tokens that creates of this process wrote: a newer owner of the node that this delete must leave alone. */
    readonly tokensOfThisProcess?: readonly string[];
};

export interface KnownNode {
    readonly memberId?: bigint;
    readonly machineId?: string;
    readonly token?: string;
}

export interface TargetEtcd {
    readonly clusterId: bigint;
    /** undefined where it cannot tell: a learner does not list members. */
    readonly memberIds: readonly bigint[] | undefined;
}

/** It may run, and it is not known which cluster it serves. */
export interface SilentEtcd {
    /** Why it could not be asked, in a clause. */
    readonly hangs: string;
}

/** The inputs that bear on a decision. */
export type PlanInputs = Pick<NodeInputs, "owner" | "adopt" | "onUnreachable" | "allowStrandedWorkers"> & {
    /** Address the host is reached at: what a record in the lock names where the host itself does not answer. */
    readonly host?: string;
    readonly minControllers: number;
    readonly maxControllers: number;
};

interface Decision {
    /** undefined where the host did not answer or is another machine. */
    readonly scenario: Scenario | undefined;
    readonly verdict: VerdictReport | undefined;
    /** Said in the log: stages skipped and why, things left to the user. */
    readonly notes: readonly string[];
    /** Scenario or verdict may pass within seconds: look again for a bounded time before acting on it. */
    readonly lookAgain: boolean;
    /** Our interrupted operation that explains the state; the steps are then the record's, not the matrix's. */
    readonly resumes?: OperationRecord;
}

export interface AddPlan extends Decision {
    readonly kind: "add";
    readonly steps: AddSteps | RestOfJoin;
    readonly ownership: Ownership;
    /** What a half-done join left, to be taken back before the steps. */
    readonly undo?: Undo;
}

/** A join of ours that was interrupted (no cell says so): see that the service runs, and wait as a join does. */
export type RestOfJoin =
    { readonly kind: "continue-worker" } | { readonly kind: "continue-controller"; readonly own: Member };

export interface Undo {
    /** Added for this join, never started: removed by ID. */
    readonly member?: Member;
    /** The unit is stopped, the host reset and its folders cleaned, so that the join starts from nothing. */
    readonly resetHost: boolean;
}

export interface RemovePlan extends Decision {
    readonly kind: "remove";
    readonly steps: RemoveSteps;
    readonly howToLeave: LeaveMethod;
    readonly member: Member | undefined;
    readonly object: EtcdMemberObject | undefined;
    /** undefined where there is none, or where it is not to be deleted. */
    readonly node: NodeObject | undefined;
    readonly controlNode: ControlNodeObject | undefined;
    /** The Node of another machine that has the address now. */
    readonly successor: NodeObject | undefined;
    /** False: nothing is written to the host; `notes` says why. */
    readonly touchesHost: boolean;
    /** The machine is not reset, and with that the removal fails in the end. */
    readonly doubt?: Refusal;
}

/** The node belongs to a newer owner made in this process: the delete does nothing. */
export interface LeaveAlone {
    readonly kind: "leave-alone";
    readonly why: string;
    /** A claim does not pass. */
    readonly lookAgain: false;
}
