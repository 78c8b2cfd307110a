import { defined } from "../defined";
import type { ClusterFacts } from "../facts/cluster";
import type { HostFacts, OperationRecord } from "../facts/host";
import type { Role } from "../inputs";
import type { Verdict } from "./etcd-verdict";
import type { KnownNode, SilentEtcd, TargetEtcd } from "./plan-types";
import type { Refusal, Topic } from "./refusal";

/**
 * What `update` does about drift (safety.md 12, 13); it never resets, except in a rebuild. `reclaim`: write marker,
 * annotation and labels again, un-cordon what we cordoned. `start-service`: enable and start the stopped service. `wait-ready`: it starts
 * or recovers by itself. `restart`: restart the service so that the Node registers. `finish`: our own interrupted join is
 * finished. `rebuild`: remove and add, which the matrix lets happen. `fail`: a person must look.
 */
export type RepairAction =
    "nothing" | "reclaim" | "start-service" | "wait-ready" | "restart" | "finish" | "rebuild" | "fail";

export interface Repair {
    /** What differs from a healthy node, in sentences that stay the same while nothing changes. Empty: no drift. */
    readonly drift: readonly string[];
    readonly action: RepairAction;
    /** Besides, the Node carries the cordon, or the mark of one, of a removal of ours that did not end. */
    readonly uncordon: boolean;
    readonly topic?: Topic;
    /** The state may pass within seconds: look again for a bounded time before believing it. */
    readonly lookAgain: boolean;
    /** Seconds; default 30. */
    readonly lookAgainFor?: number;
    /** What to do now, where the runbook is not needed for it. */
    readonly advice?: string;
}

export interface RepairSituation {
    readonly role: Role;
    readonly host: HostFacts;
    readonly cluster: ClusterFacts;
    readonly nodeName: string;
    readonly peerAddress: string;
    readonly state: KnownNode;
    readonly owner: string;
    /** What the program wants on the Node; other labels are nobody's business here. */
    readonly labels: Readonly<Record<string, string>>;
    /** Of these only those count that we are known to have set. */
    readonly taints: readonly string[];
    /** The same: of these only those that the marker notes. */
    readonly installFlags: readonly string[];
    readonly targetEtcd?: TargetEtcd | SilentEtcd;
    /** Found in the lock: what an earlier holder left unfinished (safety.md 11). */
    readonly record?: OperationRecord;
}

/** Nothing besides: what most repairs have in common. */
export const QUIET = { uncordon: false, lookAgain: false } as const;

const VERDICT_WORDS: Readonly<Record<Verdict, string | undefined>> = {
    VerdictHealthy: undefined,
    VerdictClean: "etcd does not list it as a member",
    VerdictLeaveRequested: "it was asked to leave etcd",
    VerdictLeftCRNotUpdated: "it left etcd, but its EtcdMember object does not say so yet",
    VerdictMemberLeftCRNeedsCleanup: "it left etcd, but its EtcdMember object is still there",
    VerdictHazardCRMissing: "etcd has it as a member, but there is no EtcdMember object for it",
    VerdictOOBRemovalStaleCR: "it was removed from etcd by somebody else, and its EtcdMember object is out of date",
    VerdictCorruptedRemoval: "its removal from etcd stopped half-way",
    VerdictCRStatusNeverWritten: "k0s never wrote the status of its EtcdMember object",
    VerdictCRStatusStale: "its EtcdMember object contradicts etcd",
    VerdictUnknown: "etcd's members and the EtcdMember objects for it fit no known state",
};

export function etcdDrift(verdict: Verdict | undefined): string[] {
    const words = verdict === undefined ? undefined : VERDICT_WORDS[verdict];
    return words === undefined ? [] : [words];
}

export function merge(node: Repair, marks: Repair): Repair {
    const [first, second] = marks.action === "fail" || node.action === "nothing" ? [marks, node] : [node, marks];
    return {
        ...first,
        drift: [...node.drift, ...marks.drift],
        uncordon: node.uncordon || marks.uncordon,
        lookAgain: first.lookAgain || second.lookAgain,
    };
}

export function failingAs({ what, evidence, topic, lookAgain, advice }: Refusal): Repair {
    return { ...failing([what, ...evidence], topic), lookAgain, ...defined({ advice }) };
}

export function failing(drift: readonly string[], topic: Topic | undefined): Repair {
    return { ...QUIET, drift, action: "fail", ...defined({ topic }) };
}
