import type { ClusterFacts, NodeObject } from "../facts/cluster";
import type { HostFacts, OperationRecord } from "../facts/host";
import { kindOf, type NodeKind } from "../inputs";
import { isWobble } from "./cluster-health";
import type { VerdictReport } from "./etcd-verdict";
import { lostFlags } from "./flag-drift";
import { isOtherMachine, markerOf } from "./identity";
import { needsVerdict, type Scenario } from "./matrix";
import { forOtherMachine } from "./other-machine";
import { interruptedOperation, refuseWrongHost, verdictOf } from "./plan-common";
import { failRenamed } from "./renamed";
import { repairMarks } from "./repair-marks";
import {
    etcdDrift,
    failingAs,
    merge,
    QUIET,
    type Repair,
    type RepairAction,
    type RepairSituation,
} from "./repair-plan";
import { type RepairRow, repairRowFor } from "./repair-table";
import { runsWorker } from "./role";
import { isStarting, nodeOf, scenarioOf, unitOf } from "./scenario";

export type { Repair, RepairAction, RepairSituation } from "./repair-plan";

/** What to do about a resource in state, by the rows of `REPAIRS`. */
export function repairFor(situation: RepairSituation): Repair {
    const { host, state, role, cluster, nodeName } = situation;
    if (isOtherMachine(host, state)) return forOtherMachine(situation, repairFor);
    const wrong = refuseWrongHost(situation);
    if (wrong !== undefined) return failingAs(wrong);
    const scenario = scenarioOf(host, cluster, nodeName);
    if (scenario.kind === "refuse") return failingAs(scenario);
    const verdict = needsVerdict(scenario.scenario, kindOf(role)) ? verdictOf(situation) : undefined;
    const node = repairNode(situation, scenario.scenario, verdict);
    const renamed = failRenamed(situation, scenario.scenario, node);
    if (renamed !== undefined) return renamed;
    const lookAgain = scenario.passing || verdict?.passing === true;
    const settings = repairSettings(situation, scenario.scenario);
    return merge(merge({ ...node, lookAgain }, settings), repairMarks(situation, scenario.scenario));
}

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
