import type { NodeKind } from "../inputs";
import type { Verdict } from "./etcd-verdict";
import type { Scenario } from "./matrix-steps";
import type { Topic } from "./refusal";

/**
 * What a row of the table does (safety.md 12, 13). `nothing`: the node is as it should be. `wait-ready`: it recovers by itself.
 * `start`: the stopped service is started. `restart`: the service is restarted, so that the Node registers. `rebuild`: removed
 * and added again under one lock. `fail`: a person must look.
 */
export type RepairStep = "nothing" | "wait-ready" | "start" | "restart" | "rebuild" | "fail";

export interface RepairRow {
    /** What is done, as a person would say it. */
    readonly words: string;
    readonly step: RepairStep;
    /** Section of the runbook, where the row fails. */
    readonly topic?: Topic;
}

export interface RepairRows {
    readonly worker: RepairRow;
    /** By verdict; one row where verdicts are not computed. */
    readonly controller: RepairRow | Readonly<Record<Verdict, RepairRow>>;
}

const rebuild = (words: string): RepairRow => ({ words, step: "rebuild" });
const fail = (words: string, topic: Topic): RepairRow => ({ words, step: "fail", topic });

const NOTHING: RepairRow = { words: "nothing", step: "nothing" };
const WAIT_READY: RepairRow = { words: "wait until the Node is Ready", step: "wait-ready" };
const RESTART: RepairRow = {
    words: "restart the service, wait until the Node is registered and Ready",
    step: "restart",
};
const START: RepairRow = {
    words: "start the service, wait until it answers; without a service or a controller's database: rebuild",
    step: "start",
};
const FOREIGN = fail("it belongs to another cluster", "foreign-cluster");
const UNKNOWN = fail("k0s without a cluster's CA: not known what it is", "unknown-state");

/** Etcd and its object contradict each other: the matrix refuses the removal, so nothing can be rebuilt. */
const CONTRADICTIONS = {
    VerdictHazardCRMissing: fail("a member without an EtcdMember", "member-without-cr"),
    VerdictOOBRemovalStaleCR: fail("removed from etcd by somebody else", "removed-out-of-band"),
    VerdictCorruptedRemoval: fail("a removal that was half done by somebody else", "interrupted-removal"),
    VerdictCRStatusNeverWritten: fail("an EtcdMember without a status", "cr-status-never-written"),
    VerdictCRStatusStale: fail("an EtcdMember that contradicts etcd", "cr-status-stale"),
    VerdictUnknown: fail("members and EtcdMembers that fit no known state", "unknown-state"),
} as const;

/** That somebody asked a living controller to leave is not ours to undo. */
const LEAVING = fail("somebody asked it to leave etcd", "leave-in-progress");

/** No k0s that could run: what etcd still has of it is taken out, and the machine joins as a new one. */
const GONE: RepairRows["controller"] = {
    VerdictClean: rebuild("join again"),
    VerdictHealthy: rebuild("remove the dead member by ID, join again"),
    VerdictLeaveRequested: rebuild("wait until the member has left, join again"),
    VerdictLeftCRNotUpdated: rebuild("wait for Joined=False, delete the EtcdMember, join again"),
    VerdictMemberLeftCRNeedsCleanup: rebuild("delete the EtcdMember, join again"),
    ...CONTRADICTIONS,
};

/** Its k0s is there, and it is no member any more: it can only come back as a new one. */
const EXPELLED = {
    VerdictClean: rebuild("reset it, join again"),
    VerdictLeaveRequested: LEAVING,
    VerdictLeftCRNotUpdated: rebuild("wait for Joined=False, delete the EtcdMember, reset it, join again"),
    VerdictMemberLeftCRNeedsCleanup: rebuild("delete the EtcdMember, reset it, join again"),
    ...CONTRADICTIONS,
} as const;

/**
 * What `update` does about every state of a node in state whose machine is the one that it knows; scenarios and verdicts are
 * those of spec/000. Rebuilt is only what the matrix lets be removed and then added; a test holds one against the other.
 */
export const REPAIRS: Readonly<Record<Scenario, RepairRows>> = {
    0: { worker: rebuild("join again"), controller: GONE },
    1: { worker: rebuild("join again"), controller: GONE },
    2: { worker: NOTHING, controller: { ...EXPELLED, VerdictHealthy: NOTHING } },
    3: { worker: WAIT_READY, controller: { ...EXPELLED, VerdictHealthy: WAIT_READY } },
    4: { worker: RESTART, controller: { ...EXPELLED, VerdictHealthy: RESTART } },
    5: { worker: FOREIGN, controller: FOREIGN },
    6: { worker: START, controller: { ...EXPELLED, VerdictHealthy: START } },
    7: { worker: START, controller: { ...EXPELLED, VerdictHealthy: START } },
    8: { worker: FOREIGN, controller: FOREIGN },
    9: { worker: UNKNOWN, controller: UNKNOWN },
    10: { worker: rebuild("clean the folders, join again"), controller: GONE },
};

/** The row of one state. Without a verdict where one is needed, the answer is that of VerdictUnknown. */
export function repairRowFor(scenario: Scenario, verdict: Verdict | undefined, kind: NodeKind): RepairRow {
    const rows = REPAIRS[scenario];
    if (kind === "worker") return rows.worker;
    return "words" in rows.controller ? rows.controller : rows.controller[verdict ?? "VerdictUnknown"];
}
