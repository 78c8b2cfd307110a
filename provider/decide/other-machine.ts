import { kindOf } from "../inputs";
import { type Life, lifeOf, LOOK_AGAIN_FOR_LIFE } from "./alive";
import type { VerdictReport } from "./etcd-verdict";
import { markerOf } from "./identity";
import { interruptedOperation, verdictOf } from "./plan-common";
import { etcdDrift, failing, merge, QUIET, type Repair, type RepairSituation } from "./repair-plan";
import { repairRowFor } from "./repair-table";
import { scenarioOf } from "./scenario";

const OTHER_MACHINE = "the host is another machine than the one in state";

/**
 * The machine was replaced behind our back. One that our own rebuild has claimed already is the node's from now on, and is judged
 * as such by `asOwn`; a blank one takes the place of the old node, of which only the cluster's side is left (safety.md 4). Never
 * while the old node lives: the address leads elsewhere then, and two machines would be one node.
 */
export function forOtherMachine(situation: RepairSituation, asOwn: (situation: RepairSituation) => Repair): Repair {
    const { host, state, cluster, nodeName } = situation;
    if (markerOf(host)?.token === state.token && state.token !== undefined) {
        const found = asOwn({ ...situation, state: { token: state.token } });
        return merge(found, { ...found, ...QUIET, drift: [OTHER_MACHINE], action: "reclaim" });
    }
    const scenario = scenarioOf(host, cluster, nodeName);
    const isBlank = scenario.kind === "scenario" && scenario.scenario < 2;
    if (!isBlank) return failing([OTHER_MACHINE], "unknown-state");
    const verdict = verdictOf({ ...situation, host: undefined });
    const life = lifeOfOld(situation, verdict);
    if (life.life !== "dead") return waitForIts(life);
    const row = repairRowFor(1, verdict.verdict, kindOf(situation.role));
    const inputs = { owner: situation.owner, host: host.address };
    const isExplained = interruptedOperation({ ...situation, host: undefined, inputs }) !== undefined;
    const common = { ...QUIET, drift: [OTHER_MACHINE], lookAgain: verdict.passing === true };
    if (row.step === "rebuild" || isExplained) return { ...common, action: "rebuild" };
    return { ...failing([OTHER_MACHINE, ...etcdDrift(verdict.verdict)], row.topic), lookAgain: common.lookAgain };
}

/** Of the machine that state knows: another one may have its name by now. */
function lifeOfOld({ cluster, nodeName, state, role }: RepairSituation, { member }: VerdictReport): Life {
    const node = cluster.nodes.find(
        ({ name, machineId }) => name === nodeName && (machineId === "" || machineId === state.machineId),
    );
    return lifeOf({ node, member: role === "worker" ? undefined : member }, cluster);
}

function waitForIts({ life, why }: Life): Repair {
    const is = life === "alive" ? "the old one is alive" : "the old one may be alive";
    return {
        ...failing([OTHER_MACHINE, `${is}: ${why}`], "living-node"),
        lookAgain: true,
        lookAgainFor: LOOK_AGAIN_FOR_LIFE,
        advice:
            "If the machine that answers now is to take its place, change `triggers`: the old node is drained and taken out, and the " +
            "new machine joins. If not, lead the address back.",
    };
}
