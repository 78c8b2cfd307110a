import { defined } from "../defined";
import { type ClusterFacts, type Member, memberIdFromHex, memberIdToHex, type NodeObject } from "../facts/cluster";
import type { OperationRecord } from "../facts/host";
import { kindOf } from "../inputs";
import { addressesOf, normalAddress } from "../address";
import { describeMember } from "./cluster-health";
import { refuseOtherDirectories } from "./directories";
import { type Verdict, type VerdictReport, verdictFor } from "./etcd-verdict";
import { markerOf, type Mark, whichCluster } from "./identity";
import { type Cell, needsVerdict, type NodeOperation } from "./matrix";
import { objectNameOf, OWNER_ANNOTATION, TOKEN_ANNOTATION } from "./names";
import type { PlanInputs, RemovalSituation, Situation } from "./plan-types";
import type { Addition, Removal } from "./quorum";
import { type Refusal, refuse, type Topic } from "./refusal";
import { checkRole } from "./role";
import { type ScenarioReport, scenarioOf } from "./scenario";

/**
 * What stands before everything else: the role on the host (safety.md 3), its directories (15), then which etcd it serves (2). Of a host that
 * shows another cluster's CA the matrix itself says that it is another cluster's, and fails in every cell.
 */
export function refuseWrongHost(
    situation: Pick<Situation, "role" | "host" | "cluster" | "targetEtcd">,
): Refusal | undefined {
    const role = checkRole(situation.role, situation.host, situation.cluster);
    if (!role.ok) return { ...refuse(role.why, role.evidence, "wrong-role"), ...defined({ advice: role.advice }) };
    const isForeign = whichCluster(situation.host, situation.cluster.helper) === "another";
    return isForeign ? undefined : (refuseOtherDirectories(situation) ?? refuseSecondCluster(situation));
}

function refuseSecondCluster({ targetEtcd, cluster }: Pick<Situation, "cluster" | "targetEtcd">): Refusal | undefined {
    if (targetEtcd === undefined || "hangs" in targetEtcd) return undefined;
    const { helper } = cluster;
    const found = `its own etcd serves cluster ${memberIdToHex(targetEtcd.clusterId)}`;
    if (targetEtcd.clusterId !== helper.etcdClusterId) {
        const expected = `${helper.address} serves cluster ${memberIdToHex(helper.etcdClusterId)}`;
        return refuse("the host's etcd is a cluster of its own", [found, expected], "second-cluster");
    }
    if (targetEtcd.memberIds?.includes(helper.memberId) ?? true) return undefined;
    const missing = `${helper.address} (${memberIdToHex(helper.memberId)}) does not occur in its list of members`;
    // Both were not asked at one moment: the controller that helps may have left etcd in between.
    return refuse("the host's etcd is a cluster of its own", [found, missing], "second-cluster", true);
}

/** Scenario and verdict of a host that answers. */
export interface Look {
    readonly scenario: ScenarioReport;
    /** Only where the scenario asks for one. */
    readonly verdict: VerdictReport | undefined;
}

export function look(situation: Situation): Look | Refusal {
    const { role, host, cluster, nodeName } = situation;
    const scenario = scenarioOf(host, cluster, nodeName);
    if (scenario.kind === "refuse") return scenario;
    const verdict = verdictOf(situation);
    return { scenario, verdict: needsVerdict(scenario.scenario, kindOf(role)) ? verdict : undefined };
}

/** The verdict on the node's member, whatever the scenario. */
export function verdictOf({
    host,
    cluster,
    nodeName,
    peerAddress,
    state,
}: Pick<RemovalSituation, "host" | "cluster" | "nodeName" | "peerAddress" | "state">): VerdictReport {
    const addresses = [...new Set([normalAddress(peerAddress), ...(host === undefined ? [] : addressesOf(host))])];
    return verdictFor(
        {
            addresses,
            nodeName,
            ...(host === undefined ? {} : { hostName: objectNameOf(host) }),
            ...defined({ memberId: state?.memberId }),
        },
        cluster,
    );
}

export function isPassing({ scenario, verdict }: Look): boolean {
    return scenario.passing || verdict?.passing === true;
}

/** A host whose etcd serves this cluster while the cluster does not list it: never "skip etcd" (safety.md 2). */
export function refuseUnlisted({ targetEtcd }: Situation, { verdict }: Look): Refusal | undefined {
    if (targetEtcd === undefined || "hangs" in targetEtcd) return undefined;
    if (verdict === undefined || verdict.member !== undefined) return undefined;
    // Which member it is, nobody can tell; the matrix itself fails.
    if (verdict.several !== undefined || verdict.verdict === "VerdictUnknown") return undefined;
    return refuse(
        "its own etcd serves, but the cluster does not list it as a member",
        verdict.evidence,
        "second-cluster",
        true,
    );
}

export function refuseCell(cell: Cell, { scenario, verdict }: Look): Refusal {
    const parts = [`scenario ${scenario.scenario} (${scenario.title})`, ...(cell.verdict ? [cell.verdict] : [])];
    return refuse(
        `${parts.join(", ")}: ${cell.words}`,
        [...scenario.evidence, ...(verdict?.evidence ?? [])],
        verdict?.several === undefined ? topicOf(cell) : TOPIC_OF_SEVERAL[verdict.several],
        isPassing({ scenario, verdict }),
    );
}

/** A verdict's own repair goes by address or name, which here fit more than one. */
const TOPIC_OF_SEVERAL: Readonly<Record<NonNullable<VerdictReport["several"]>, Topic>> = {
    members: "ghost-member",
    objects: "unknown-state",
};

const TOPIC_BY_VERDICT: Readonly<Partial<Record<Verdict, Topic>>> = {
    VerdictHazardCRMissing: "member-without-cr",
    VerdictCRStatusNeverWritten: "cr-status-never-written",
    VerdictCRStatusStale: "cr-status-stale",
    VerdictOOBRemovalStaleCR: "removed-out-of-band",
    VerdictCorruptedRemoval: "interrupted-removal",
    VerdictUnknown: "unknown-state",
    VerdictLeaveRequested: "leave-in-progress",
    VerdictLeftCRNotUpdated: "leave-in-progress",
    VerdictMemberLeftCRNeedsCleanup: "interrupted-removal",
};

/** Which section of the runbook tells more about a cell that fails. */
export function topicOf({
    scenario,
    verdict,
    operation,
}: Pick<Cell, "scenario" | "verdict"> & { operation: NodeOperation }): Topic {
    if (scenario === 5 || scenario === 8) return "foreign-cluster";
    if (scenario === 9) return "unknown-state";
    const known = verdict === undefined ? undefined : TOPIC_BY_VERDICT[verdict];
    if (known !== undefined) return known;
    if (operation === "add" && verdict === "VerdictHealthy" && scenario < 2) return "member-on-wiped-host";
    // Its k0s runs or its files are there, and etcd does not know it.
    if (verdict === "VerdictClean" && scenario >= 2 && scenario <= 4) return "removed-out-of-band";
    return "broken-installation";
}

/**
 * An operation of ours that was interrupted on this node, by which it came or was to go: its record is in the marker or in the
 * lock (safety.md 11). A reinstall explains neither: it is not among them, and hides none of them.
 */
export function interruptedOperation(search: RecordSearch): OperationRecord | undefined {
    return recordsOf(search).find(isOfMembership);
}

/** An earlier run of ours began anything on this node and did not end: what it changed may be changed still. */
export function hasBegunBefore(search: RecordSearch): boolean {
    return recordsOf(search).length > 0;
}

type RecordSearch = Pick<RemovalSituation, "host" | "record" | "peerAddress" | "state"> & {
    readonly inputs: Pick<PlanInputs, "owner" | "host">;
};

/** The host's own word first. */
function recordsOf({ host, record, inputs, peerAddress, state }: RecordSearch): OperationRecord[] {
    const marker = host === undefined ? undefined : markerOf(host);
    const isOurs = marker !== undefined && (marker.owner === inputs.owner || marker.token === state?.token);
    const targets = [peerAddress, inputs.host ?? peerAddress, host?.address ?? peerAddress].map(normalAddress);
    const isRecorded = record?.owner === inputs.owner && targets.includes(normalAddress(record.target));
    return [isOurs ? marker.operation : undefined, isRecorded ? record : undefined].filter((one) => one !== undefined);
}

function isOfMembership({ kind }: OperationRecord): boolean {
    return kind !== "reinstall";
}

export function wasThereBefore(record: OperationRecord, member: Member): boolean {
    return record.baseline.some((id) => memberIdFromHex(id) === member.id);
}

export function isRemoving(record: OperationRecord | undefined, memberId: bigint | undefined): boolean {
    return record?.removing !== undefined && memberId !== undefined && memberIdFromHex(record.removing) === memberId;
}

export function annotationOf(node: NodeObject | undefined): Mark | undefined {
    if (node === undefined) return undefined;
    return { owner: node.annotations[OWNER_ANNOTATION], token: node.annotations[TOKEN_ANNOTATION] };
}

/** Voters, and those of them proven healthy. */
export function countVoters({ members }: Pick<ClusterFacts, "members">): {
    readonly voters: number;
    readonly healthy: number;
} {
    const voters = members.filter((member) => !member.learner);
    return { voters: voters.length, healthy: voters.filter((member) => member.health === "healthy").length };
}

/** What an addition to these members meets. */
export function additionTo(members: readonly Member[], maxControllers: number): Addition {
    return {
        ...countVoters({ members }),
        learners: members.filter(({ learner }) => learner).length,
        unstarted: members.filter(({ name }) => name === "").length,
        maxControllers,
    };
}

/** What the removal of one of these members meets. */
export function removalOf(target: Member, members: readonly Member[], minControllers: number): Removal {
    return {
        ...countVoters({ members }),
        targetIsVoter: !target.learner,
        targetHealthy: target.health === "healthy",
        targetUnknown: target.health === "unknown",
        minControllers,
    };
}

export function describeHealth(member: Member): string {
    return `${member.learner ? "learner" : "voter"} ${describeMember(member)}: health ${member.health}`;
}
