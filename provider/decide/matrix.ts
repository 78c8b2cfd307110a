import type { NodeKind } from "../inputs";
import type { Verdict } from "./etcd-verdict";
import {
    type Action,
    ADOPT,
    brokenRegistered,
    brokenUnregistered,
    type Cell,
    CLEAN_THEN_JOIN,
    DELETE_OBJECT,
    DEREGISTER,
    FAIL,
    FOLDERS,
    happyPath,
    happyPathUndrained,
    JOIN,
    LEAVE,
    leftovers,
    NO_ETCD,
    type NodeOperation,
    RESET,
    RESET_AND_NODE,
    RESTART,
    type Scenario,
    WAIT_JOINED_FALSE,
    WAIT_LEFT,
    WAIT_READY,
} from "./matrix-steps";

export type { Action, AddSteps, Cell, NodeOperation, RemoveSteps, Scenario } from "./matrix-steps";

/** Two cells side by side, as in the document: the words and what is done for add, the words and what is done for remove. */
type Row = readonly [addWords: string, add: Action, removeWords: string, remove: Action];

interface ScenarioRows {
    readonly title: string;
    readonly worker: Row;
    /** By verdict; one row where verdicts are not computed. */
    readonly controller: Row | Readonly<Record<VerdictGroup, Row>>;
}

/** `fail`: the six verdicts that are "report, fail" in every scenario. */
type VerdictGroup = "clean" | "healthy" | "leaveRequested" | "leftNotUpdated" | "leftNeedsCleanup" | "fail";

const GROUPS: Readonly<Record<Verdict, VerdictGroup>> = {
    VerdictClean: "clean",
    VerdictHealthy: "healthy",
    VerdictLeaveRequested: "leaveRequested",
    VerdictLeftCRNotUpdated: "leftNotUpdated",
    VerdictMemberLeftCRNeedsCleanup: "leftNeedsCleanup",
    VerdictHazardCRMissing: "fail",
    VerdictOOBRemovalStaleCR: "fail",
    VerdictCorruptedRemoval: "fail",
    VerdictCRStatusNeverWritten: "fail",
    VerdictCRStatusStale: "fail",
    VerdictUnknown: "fail",
};

const REPORT_FAIL = "report, fail";
const BOTH_FAIL: Row = [REPORT_FAIL, FAIL, REPORT_FAIL, FAIL];

const noAdd = (removeWords: string, remove: Action): Row => [REPORT_FAIL, FAIL, removeWords, remove];

/** Scenarios 0 and 1 differ for workers only. */
const CLEAN_HOST: Readonly<Record<VerdictGroup, Row>> = {
    clean: ["happy path", JOIN, "k0s reset (best effort)", RESET],
    leftNeedsCleanup: [
        "cleanup stale CR, then happy path",
        CLEAN_THEN_JOIN,
        "cleanup stale CR, k0s reset (best effort)",
        brokenUnregistered(DELETE_OBJECT),
    ],
    leftNotUpdated: noAdd(
        "exclude from etcd removal; wait for CR to reach Joined=False (best effort?); remove CR?",
        brokenUnregistered(WAIT_JOINED_FALSE),
    ),
    healthy: noAdd("happy path, skip node drain/cordon, k0s reset best effort, cleanup", happyPathUndrained(LEAVE)),
    leaveRequested: noAdd(
        "wait until member left etcd, skip node cordon and drain, k0s reset best effort, cleanup",
        happyPathUndrained(WAIT_LEFT),
    ),
    fail: BOTH_FAIL,
};

/** spec/000, "Node Lifecycle Scenario Matrix", row by row; a test holds it against the document. */
export const MATRIX: Readonly<Record<Scenario, ScenarioRows>> = {
    0: {
        title: "Clean host with k0s binary installed",
        worker: ["happy path", JOIN, "k0s reset (best effort)", RESET],
        controller: CLEAN_HOST,
    },
    1: {
        title: "Clean host",
        worker: ["happy path", JOIN, "report; de-register from MKEConfig only", DEREGISTER],
        controller: CLEAN_HOST,
    },
    2: {
        title: "k0s installed, part of this cluster, node ready",
        worker: ["report; register in MKEConfig only", ADOPT, "happy path", happyPath(NO_ETCD)],
        controller: {
            clean: noAdd("skip etcd removal, happy path", happyPath(NO_ETCD)),
            healthy: ["report; register in MKEConfig only", ADOPT, "happy path", happyPath(LEAVE)],
            leaveRequested: noAdd("skip etcd removal, wait for member to leave etcd, happy path", happyPath(WAIT_LEFT)),
            leftNotUpdated: noAdd(
                "skip etcd removal, wait for CR to reach Joined=False, remove CR, happy path",
                happyPath(WAIT_JOINED_FALSE),
            ),
            leftNeedsCleanup: noAdd("skip etcd removal, cleanup CR, happy path", happyPath(DELETE_OBJECT)),
            fail: BOTH_FAIL,
        },
    },
    3: {
        title: "k0s installed, part of this cluster, node NOT ready",
        worker: ["exclude from adding, but wait for readiness", WAIT_READY, "happy path", happyPath(NO_ETCD)],
        controller: {
            clean: noAdd("skip removal from etcd, happy path", happyPath(NO_ETCD)),
            healthy: ["exclude from adding, but wait for readiness", WAIT_READY, "happy path", happyPath(LEAVE)],
            leaveRequested: noAdd("skip etcd removal, wait for member to leave etcd, happy path", happyPath(WAIT_LEFT)),
            leftNotUpdated: noAdd(
                "skip etcd removal, wait for CR to reach Joined=False, remove CR, happy path",
                happyPath(WAIT_JOINED_FALSE),
            ),
            leftNeedsCleanup: noAdd("skip etcd removal, cleanup CR, happy path", happyPath(DELETE_OBJECT)),
            fail: BOTH_FAIL,
        },
    },
    4: {
        title: "k0s installed, part of this cluster, node NOT registered",
        worker: [
            "restart k0sworker service, wait for node readiness",
            RESTART,
            "report, k0s reset (best effort)",
            RESET,
        ],
        controller: {
            clean: noAdd("skip removal from etcd, happy path (exclude cordon, drain)", happyPathUndrained(NO_ETCD)),
            healthy: [
                "restart k0scontroller service, wait for node readiness",
                RESTART,
                "happy path (exclude cordon, drain)",
                happyPathUndrained(LEAVE),
            ],
            leaveRequested: noAdd(
                "skip etcd removal, wait for member to leave etcd, happy path (exclude cordon, drain)",
                happyPathUndrained(WAIT_LEFT),
            ),
            leftNotUpdated: noAdd(
                "skip etcd removal, wait for CR to reach Joined=False, remove CR, happy path (exclude cordon, drain)",
                happyPathUndrained(WAIT_JOINED_FALSE),
            ),
            leftNeedsCleanup: noAdd(
                "skip etcd removal, cleanup CR, happy path (exclude cordon, drain)",
                happyPathUndrained(DELETE_OBJECT),
            ),
            fail: BOTH_FAIL,
        },
    },
    5: {
        title: "k0s installed, NOT part of this cluster, but part of another cluster",
        worker: BOTH_FAIL,
        controller: BOTH_FAIL,
    },
    6: {
        title: "k0s installation corrupted, part of this cluster, node registered in cluster",
        worker: noAdd("k0s reset (best effort) + node removal", RESET_AND_NODE),
        controller: {
            clean: noAdd("skip etcd leave, k0s reset (best effort) + node removal", RESET_AND_NODE),
            healthy: noAdd(
                "leave etcd, wait for leaving, cleanup CR, node cordon and drain, k0s reset best effort",
                brokenRegistered(LEAVE),
            ),
            leaveRequested: noAdd(
                "wait for etcd member to leave etcd (best effort); if waiting failed, fail — otherwise proceed to node cordon, drain, and k0s reset best effort",
                brokenRegistered(WAIT_LEFT),
            ),
            leftNotUpdated: noAdd(
                "wait for CR to have Joined=False (best effort); if waiting failed, fail — otherwise skip leaving etcd and proceed to node cordon, drain, and k0s reset best effort",
                brokenRegistered(WAIT_JOINED_FALSE),
            ),
            leftNeedsCleanup: noAdd(
                "skip etcd leave and waiting, remove CR, proceed to node cordon, drain, and k0s reset best effort",
                brokenRegistered(DELETE_OBJECT),
            ),
            fail: BOTH_FAIL,
        },
    },
    7: {
        title: "k0s installation corrupted, part of this cluster, node NOT registered in cluster",
        worker: noAdd("k0s reset (best effort)", RESET),
        controller: {
            clean: noAdd("skip etcd leave, k0s reset (best effort)", RESET),
            healthy: noAdd(
                "leave etcd, wait for leaving, cleanup CR, skip node cordon and drain, k0s reset best effort",
                brokenUnregistered(LEAVE),
            ),
            leaveRequested: noAdd(
                "wait for etcd member to leave etcd (best effort); if waiting failed, fail — otherwise proceed to k0s reset best effort",
                brokenUnregistered(WAIT_LEFT),
            ),
            leftNotUpdated: noAdd(
                "wait for CR to have Joined=False (best effort); if waiting failed, fail — otherwise skip leaving etcd and proceed to k0s reset best effort",
                brokenUnregistered(WAIT_JOINED_FALSE),
            ),
            leftNeedsCleanup: noAdd(
                "skip etcd leave and waiting, remove CR, proceed to k0s reset best effort",
                brokenUnregistered(DELETE_OBJECT),
            ),
            fail: BOTH_FAIL,
        },
    },
    8: {
        title: "k0s installation corrupted, NOT part of this cluster",
        worker: BOTH_FAIL,
        controller: BOTH_FAIL,
    },
    9: {
        title: "k0s installation corrupted, NOT part of ANY cluster",
        worker: BOTH_FAIL,
        controller: BOTH_FAIL,
    },
    10: {
        title: "k0s not installed, part of this cluster",
        worker: ["report, fail (needs manual cleanup)", FAIL, "cleanup folders", FOLDERS],
        controller: {
            clean: noAdd("cleanup folders", FOLDERS),
            healthy: noAdd(
                "leave etcd, wait for leaving, cleanup CR, skip node cordon and drain, cleanup folders",
                leftovers(LEAVE),
            ),
            leaveRequested: noAdd(
                "wait for etcd member to leave etcd (best effort); if waiting failed, fail — otherwise proceed to cleanup folders",
                leftovers(WAIT_LEFT),
            ),
            leftNotUpdated: noAdd(
                "wait for CR to have Joined=False (best effort); if waiting failed, fail — otherwise skip leaving etcd and proceed to cleanup folders",
                leftovers(WAIT_JOINED_FALSE),
            ),
            leftNeedsCleanup: noAdd(
                "skip etcd leave and waiting, remove CR, proceed to folder cleanup",
                leftovers(DELETE_OBJECT),
            ),
            fail: BOTH_FAIL,
        },
    },
};

/** True for controllers in scenarios whose row depends on the verdict; 5, 8 and 9 fail before verdicts are computed. */
export function needsVerdict(scenario: Scenario, kind: NodeKind): boolean {
    return kind === "controller" && !isRow(MATRIX[scenario].controller);
}

/** The cell of the document for one host. Without a verdict where one is needed, the answer is that of VerdictUnknown. */
export function cellFor(
    scenario: Scenario,
    verdict: Verdict | undefined,
    kind: NodeKind,
    operation: NodeOperation,
): Cell {
    const computed = needsVerdict(scenario, kind) ? (verdict ?? "VerdictUnknown") : undefined;
    const [addWords, add, removeWords, remove] = rowFor(scenario, computed, kind);
    const [words, action] = operation === "add" ? [addWords, add] : [removeWords, remove];
    return { scenario, verdict: computed, kind, operation, words, action };
}

function rowFor(scenario: Scenario, verdict: Verdict | undefined, kind: NodeKind): Row {
    const rows = MATRIX[scenario];
    if (kind === "worker") return rows.worker;
    if (isRow(rows.controller)) return rows.controller;
    return rows.controller[GROUPS[verdict ?? "VerdictUnknown"]];
}

function isRow(rows: Row | Readonly<Record<VerdictGroup, Row>>): rows is Row {
    return Array.isArray(rows);
}
