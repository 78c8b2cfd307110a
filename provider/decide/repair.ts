import type { ClusterFacts } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import type { Role } from "../inputs";
import { WOBBLE_MS } from "./cluster-health";
import type { Verdict, VerdictReport } from "./etcd-verdict";
import { isOtherMachine, markerOf, ownership } from "./identity";
import { cellFor, needsVerdict, type NodeKind, type Scenario } from "./matrix";
import { annotationOf, kindOf, refuseWrongHost, topicOf, verdictOf } from "./plan-common";
import type { KnownNode, TargetEtcd } from "./plan-types";
import type { Refusal, Topic } from "./refusal";
import { runsWorker } from "./role";
import { nodeOf, scenarioOf, type ScenarioReport, unitOf } from "./scenario";

/**
 * What `update` does about drift (safety.md 12, 13); it never resets. `reclaim`: write marker and annotation again.
 * `start-service`: enable and start the stopped service. `wait-ready`: it starts or recovers by itself. `restart`: restart the
 * service so that the Node registers. `rebuild`: remove and add, which the matrix lets happen. `fail`: a person must look.
 */
export type RepairAction = "nothing" | "reclaim" | "start-service" | "wait-ready" | "restart" | "rebuild" | "fail";

export interface Repair {
    /** What differs from a healthy node, in sentences that stay the same while nothing changes. Empty: no drift. */
    readonly drift: readonly string[];
    readonly action: RepairAction;
    readonly topic?: Topic;
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
    readonly targetEtcd?: TargetEtcd | "hangs";
    /** Milliseconds since 1970. */
    readonly now: number;
}

/** The repair table, for a resource in state. */
export function repairFor(situation: RepairSituation): Repair {
    const { host, state, role, cluster, nodeName } = situation;
    if (isOtherMachine(host, state)) {
        return failing(["the host is another machine than the one in state"], "unknown-state");
    }
    const wrong = refuseWrongHost(situation);
    if (wrong !== undefined) return failingAs(wrong);
    const scenario = scenarioOf(host, cluster, nodeName);
    if (scenario.kind === "refuse") return failingAs(scenario);
    const kind = kindOf(role);
    const verdict = needsVerdict(scenario.scenario, kind) ? verdictOf(situation) : undefined;
    return merge(repairNode(situation, scenario, verdict, kind), repairMarks(situation, scenario.scenario));
}

function repairNode(
    situation: RepairSituation,
    scenario: ScenarioReport,
    verdict: VerdictReport | undefined,
    kind: NodeKind,
): Repair {
    const drift = [...hostDrift(situation, scenario.scenario), ...etcdDrift(verdict?.verdict)];
    const action = drift.length === 0 ? "nothing" : actionFor(situation, scenario.scenario, verdict, kind);
    const cell = { scenario: scenario.scenario, verdict: verdict?.verdict, operation: "add" } as const;
    return {
        drift,
        action,
        lookAgain: scenario.passing || verdict?.passing === true,
        ...(action === "fail" || action === "rebuild" ? { topic: topicOf(cell) } : {}),
    };
}

/** A member that etcd and its object agree on is repaired in place; anything else is rebuilt where the matrix lets it be. */
function actionFor(
    situation: RepairSituation,
    scenario: Scenario,
    verdict: VerdictReport | undefined,
    kind: NodeKind,
): RepairAction {
    // Somebody asked it to leave; that is not ours to undo.
    if (verdict?.verdict === "VerdictLeaveRequested") return "fail";
    const isMember = kind === "worker" || verdict?.verdict === "VerdictHealthy";
    const inPlace = isMember ? repairInPlace(situation, scenario, kind) : undefined;
    if (inPlace !== undefined) return inPlace;
    return cellFor(scenario, verdict?.verdict, kind, "remove").action.kind === "fail" ? "fail" : "rebuild";
}

function repairInPlace({ host }: RepairSituation, scenario: Scenario, kind: NodeKind): RepairAction | undefined {
    if (scenario === 3) return "wait-ready";
    if (scenario === 4) return "restart";
    if (scenario !== 6 && scenario !== 7) return undefined;
    const unit = unitOf(host);
    if (unit === undefined) return undefined;
    // A controller without its database would start a new cluster with the same CA.
    if (kind === "controller" && !host.data.etcdDatabase) return undefined;
    return isStarting(unit.active) ? "wait-ready" : "start-service";
}

function hostDrift({ host, cluster, nodeName, now }: RepairSituation, scenario: Scenario): string[] {
    switch (scenario) {
        case 0:
            return ["k0s is not installed as a service"];
        case 1:
            return ["k0s is not installed"];
        case 2:
            return [];
        case 3:
            return isWobbling(nodeOf(host, cluster, nodeName)?.readySince ?? 0, now)
                ? []
                : [`Node ${nodeName} is NotReady`];
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
    return isStarting(unit.active) ? `k0s does not answer, although ${name} is started` : `${name} is not running`;
}

function isStarting(active: string): boolean {
    return active === "active" || active === "activating";
}

function isWobbling(readySince: number, now: number): boolean {
    return readySince > 0 && now - readySince < WOBBLE_MS;
}

const VERDICT_WORDS: Readonly<Record<Verdict, string | undefined>> = {
    VerdictHealthy: undefined,
    VerdictClean: "etcd does not list it as a member",
    VerdictLeaveRequested: "it was asked to leave etcd",
    VerdictLeftCRNotUpdated: "it left etcd, and its EtcdMember does not say so yet",
    VerdictMemberLeftCRNeedsCleanup: "it left etcd, and its EtcdMember is still there",
    VerdictHazardCRMissing: "it is an etcd member without an EtcdMember",
    VerdictOOBRemovalStaleCR: "it was removed from etcd by somebody else, and its EtcdMember is stale",
    VerdictCorruptedRemoval: "its removal from etcd was half done",
    VerdictCRStatusNeverWritten: "k0s never wrote the status of its EtcdMember",
    VerdictCRStatusStale: "its EtcdMember contradicts etcd",
    VerdictUnknown: "its etcd members and EtcdMembers fit no known state",
};

function etcdDrift(verdict: Verdict | undefined): string[] {
    const words = verdict === undefined ? undefined : VERDICT_WORDS[verdict];
    return words === undefined ? [] : [words];
}

/** Marks matter where there is a node that could be somebody else's (safety.md 6). */
function repairMarks({ host, cluster, nodeName, state, owner }: RepairSituation, scenario: Scenario): Repair {
    const nothing: Repair = { drift: [], action: "nothing", lookAgain: false };
    if (![2, 3, 4, 6, 7].includes(scenario)) return nothing;
    const marker = markerOf(host);
    const annotation = annotationOf(nodeOf(host, cluster, nodeName));
    const claim = { owner, adopt: "unmarked", ...(state.token === undefined ? {} : { token: state.token }) } as const;
    const { whose, token, why } = ownership(marker, annotation, claim);
    if (whose === "other") return failing([why.replace(/, and adopt.*$/, "")], "other-owner");
    const drift = [
        ...(token === "other" ? ["the node is marked with another token than the one in state"] : []),
        ...(marker === undefined ? ["the host does not carry our marker"] : []),
        ...(annotation !== undefined && annotation.owner === undefined
            ? [`Node ${nodeName} does not carry our mark`]
            : []),
    ];
    return drift.length === 0 ? nothing : { drift, action: "reclaim", lookAgain: false };
}

function merge(node: Repair, marks: Repair): Repair {
    const [first, second] = marks.action === "fail" || node.action === "nothing" ? [marks, node] : [node, marks];
    return { ...first, drift: [...node.drift, ...marks.drift], lookAgain: first.lookAgain || second.lookAgain };
}

function failingAs({ what, evidence, topic, lookAgain }: Refusal): Repair {
    return { ...failing([what, ...evidence], topic), lookAgain };
}

function failing(drift: readonly string[], topic: Topic | undefined): Repair {
    return { drift, action: "fail", lookAgain: false, ...(topic === undefined ? {} : { topic }) };
}
