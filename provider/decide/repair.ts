import { defined } from "../defined";
import type { ClusterFacts, NodeObject } from "../facts/cluster";
import type { HostFacts, OperationRecord } from "../facts/host";
import { kindOf, type NodeKind, type Role } from "../inputs";
import { isWobble } from "./cluster-health";
import type { Verdict, VerdictReport } from "./etcd-verdict";
import { lostFlags } from "./flag-drift";
import { isOtherMachine, markerOf, ownership } from "./identity";
import { needsVerdict, type Scenario } from "./matrix";
import { CORDON_ANNOTATION } from "./names";
import { annotationOf, interruptedOperation, refuseWrongHost, verdictOf } from "./plan-common";
import type { KnownNode, SilentEtcd, TargetEtcd } from "./plan-types";
import type { Refusal, Topic } from "./refusal";
import { type RepairRow, repairRowFor } from "./repair-table";
import { runsWorker } from "./role";
import { isStarting, nodeOf, scenarioOf, unitOf } from "./scenario";
import { taintDrift } from "./taints";

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
    /** Besides, the Node is still cordoned by a removal of ours that did not end. */
    readonly uncordon: boolean;
    readonly topic?: Topic;
    /** What to do now, where the runbook is not needed for it. */
    readonly advice?: string;
    /** The state may pass within seconds: look again for a bounded time before believing it. */
    readonly lookAgain: boolean;
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

/** What to do about a resource in state, by the rows of `REPAIRS`. */
export function repairFor(situation: RepairSituation): Repair {
    const { host, state, role, cluster, nodeName } = situation;
    if (isOtherMachine(host, state)) return forOtherMachine(situation);
    const wrong = refuseWrongHost(situation);
    if (wrong !== undefined) return failingAs(wrong);
    const scenario = scenarioOf(host, cluster, nodeName);
    if (scenario.kind === "refuse") return failingAs(scenario);
    const verdict = needsVerdict(scenario.scenario, kindOf(role)) ? verdictOf(situation) : undefined;
    const node = repairNode(situation, scenario.scenario, verdict);
    const lookAgain = scenario.passing || verdict?.passing === true;
    const settings = repairSettings(situation, scenario.scenario);
    return merge(merge({ ...node, lookAgain }, settings), repairMarks(situation, scenario.scenario));
}

const OTHER_MACHINE = "the host is another machine than the one in state";

/**
 * The machine was replaced behind our back. One that our own rebuild has claimed already is the node's from now on; a blank
 * one takes the place of the old node, of which only the cluster's side is left (safety.md 4).
 */
function forOtherMachine(situation: RepairSituation): Repair {
    const { host, state, cluster, nodeName } = situation;
    if (markerOf(host)?.token === state.token && state.token !== undefined) {
        const found = repairFor({ ...situation, state: { token: state.token } });
        return merge(found, { ...found, ...QUIET, drift: [OTHER_MACHINE], action: "reclaim" });
    }
    const scenario = scenarioOf(host, cluster, nodeName);
    const isBlank = scenario.kind === "scenario" && scenario.scenario < 2;
    if (!isBlank) return failing([OTHER_MACHINE], "unknown-state");
    const verdict = verdictOf({ ...situation, host: undefined });
    const row = repairRowFor(1, verdict.verdict, kindOf(situation.role));
    const isExplained = interruptedIn(situation, undefined) !== undefined;
    const common = { ...QUIET, drift: [OTHER_MACHINE], lookAgain: verdict.passing === true };
    if (row.step === "rebuild" || isExplained) return { ...common, action: "rebuild" };
    return { ...failing([OTHER_MACHINE, ...etcdDrift(verdict.verdict)], row.topic), lookAgain: common.lookAgain };
}

const QUIET = { uncordon: false, lookAgain: false } as const;

function repairNode(
    situation: RepairSituation,
    scenario: Scenario,
    verdict: VerdictReport | undefined,
): Pick<Repair, "drift" | "action" | "uncordon" | "topic"> {
    const kind = kindOf(situation.role);
    const record = interruptedIn(situation, situation.host);
    const drift = [...hostDrift(situation, scenario), ...etcdDrift(verdict?.verdict)];
    const row = repairRowFor(scenario, verdict?.verdict, kind);
    const isForeign = scenario === 5 || scenario === 8;
    if (record !== undefined && !isForeign) {
        const begun = `an earlier operation of ours on it (${record.kind}) was interrupted`;
        return { drift: [...drift, begun], uncordon: false, ...finishing(situation, row, record, { drift, verdict }) };
    }
    const action = drift.length === 0 ? "nothing" : actionOf(situation, row, verdict, kind);
    const { topic = "broken-installation" } = row;
    return { drift, action, uncordon: false, ...(action === "fail" ? { topic } : {}) };
}

/** Its k0s may run with the old settings, with the new ones, or not at all; where it is gone, so is the question. */
function repairSettings({ host, role, installFlags }: RepairSituation, scenario: Scenario): Repair {
    const nothing: Repair = { ...QUIET, drift: [], action: "nothing" };
    if (![2, 3, 4, 6, 7].includes(scenario)) return nothing;
    const marker = markerOf(host);
    const lost = lostFlags(marker, host.units[kindOf(role)]?.args, installFlags);
    const drift = [
        ...(marker?.operation?.kind === "reinstall" ? ["an earlier change of its k0s settings was interrupted"] : []),
        ...lost.map((name) => `flag ${name} of its service is not as the program says`),
    ];
    return drift.length === 0 ? nothing : { ...nothing, drift, action: "reclaim" };
}

/** A record of ours comes before the table: a join is finished, a removal too where it cannot simply be forgotten. */
function finishing(
    situation: RepairSituation,
    row: RepairRow,
    { kind }: OperationRecord,
    { drift, verdict }: { readonly drift: readonly string[]; readonly verdict: VerdictReport | undefined },
): Pick<Repair, "action"> {
    if (kind === "add") return { action: "finish" };
    if (row.step === "fail") return { action: "rebuild" };
    return { action: drift.length === 0 ? "reclaim" : actionOf(situation, row, verdict, kindOf(situation.role)) };
}

function interruptedIn(
    { owner, host: { address }, ...situation }: RepairSituation,
    host: HostFacts | undefined,
): OperationRecord | undefined {
    return interruptedOperation({ ...situation, host, inputs: { owner, host: address } });
}

function actionOf(
    situation: RepairSituation,
    row: RepairRow,
    verdict: VerdictReport | undefined,
    kind: NodeKind,
): RepairAction {
    if (row.step !== "start") return row.step;
    const { host, state } = situation;
    const unit = unitOf(host);
    // A controller without its database would start a new cluster with the same CA.
    if (unit === undefined || (kind === "controller" && !host.data.etcdDatabase)) return "rebuild";
    // Its database is that of the member in state; another one at its address is not the one that would start.
    const isOther =
        state.memberId !== undefined && verdict?.member !== undefined && verdict.member.id !== state.memberId;
    if (isOther) return "fail";
    return isStarting(unit) ? "wait-ready" : "start-service";
}

function hostDrift({ host, cluster, nodeName }: RepairSituation, scenario: Scenario): string[] {
    switch (scenario) {
        case 0:
            return ["k0s is not installed as a service"];
        case 1:
            return ["k0s is not installed"];
        case 2:
            return [];
        case 3:
            return isWobbling(nodeOf(host, cluster, nodeName), cluster) ? [] : [`Node ${nodeName} is NotReady`];
        case 4:
            return [`Node ${nodeName} is not registered`];
        case 5:
        case 8:
            return ["the host belongs to another cluster"];
        case 6:
        case 7:
            return [
                serviceDrift(host),
                ...(scenario === 7 && isExpected(host) ? [`Node ${nodeName} is not registered`] : []),
            ];
        case 9:
            return ["k0s is on the host, but no cluster's CA can be found there"];
        case 10:
            return ["k0s is not installed, but files of this cluster are left"];
    }
}

/** A plain controller has no Node to miss. */
function isExpected({ units }: HostFacts): boolean {
    return units.controller === undefined || runsWorker(units.controller);
}

function serviceDrift(host: HostFacts): string {
    const unit = unitOf(host);
    if (unit === undefined) return "the k0s service is gone";
    const name = host.units.controller === undefined ? "k0sworker" : "k0scontroller";
    return isStarting(unit) ? `k0s does not answer, although ${name} is started` : `${name} is not running`;
}

function isWobbling(node: NodeObject | undefined, { now }: ClusterFacts): boolean {
    return node !== undefined && isWobble(node, now);
}

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

function etcdDrift(verdict: Verdict | undefined): string[] {
    const words = verdict === undefined ? undefined : VERDICT_WORDS[verdict];
    return words === undefined ? [] : [words];
}

/** Marks matter where there is a node that could be somebody else's (safety.md 6). */
function repairMarks(situation: RepairSituation, scenario: Scenario): Repair {
    const { host, cluster, nodeName, state, owner } = situation;
    const nothing: Repair = { ...QUIET, drift: [], action: "nothing" };
    if (![2, 3, 4, 6, 7].includes(scenario)) return nothing;
    const marker = markerOf(host);
    const node = nodeOf(host, cluster, nodeName);
    const annotation = annotationOf(node);
    const claim = { owner, adopt: "unmarked", ...defined({ token: state.token }) } as const;
    const { whose, token, why } = ownership(marker, annotation, claim);
    if (whose === "other") return failing([why.replace(/, and adopt.*$/, "")], "other-owner");
    // Somebody else's cordon is their business, and no drift.
    const uncordon = node?.unschedulable === true && node.annotations[CORDON_ANNOTATION] !== undefined;
    const drift = [
        ...(token === "other" ? ["the node is marked with another token than the one in state"] : []),
        ...(marker === undefined ? ["the host does not carry our marker"] : []),
        ...(annotation !== undefined && annotation.owner === undefined
            ? [`Node ${nodeName} does not carry our mark`]
            : []),
        ...(uncordon ? [`Node ${nodeName} is still cordoned by an operation of ours that was interrupted`] : []),
        ...labelDrift(node, situation.labels),
        ...taintDrift(node, situation.taints),
    ];
    return drift.length === 0 ? nothing : { drift, action: "reclaim", uncordon, lookAgain: false };
}

/** A Node that is missing has drift of its own. */
function labelDrift(node: NodeObject | undefined, wanted: RepairSituation["labels"]): string[] {
    if (node === undefined) return [];
    const differing = Object.entries(wanted).filter(([key, value]) => node.labels[key] !== value);
    return differing.map(([key, value]) => {
        const found = node.labels[key];
        const is = found === undefined ? "missing" : `${JSON.stringify(found)}, not ${JSON.stringify(value)}`;
        return `label ${key} of Node ${node.name} is ${is}`;
    });
}

function merge(node: Repair, marks: Repair): Repair {
    const [first, second] = marks.action === "fail" || node.action === "nothing" ? [marks, node] : [node, marks];
    return {
        ...first,
        drift: [...node.drift, ...marks.drift],
        uncordon: node.uncordon || marks.uncordon,
        lookAgain: first.lookAgain || second.lookAgain,
    };
}

function failingAs({ what, evidence, topic, lookAgain, advice }: Refusal): Repair {
    return { ...failing([what, ...evidence], topic), lookAgain, ...defined({ advice }) };
}

function failing(drift: readonly string[], topic: Topic | undefined): Repair {
    return { ...QUIET, drift, action: "fail", ...defined({ topic }) };
}
