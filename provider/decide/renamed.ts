import { registeredName } from "../facts/controller";
import type { HostFacts } from "../facts/host";
import { failing, type Repair, type RepairAction, type RepairSituation } from "./repair-plan";
import type { Scenario } from "./matrix";
import { runsWorker } from "./role";
import { unitOf } from "./scenario";

/**
 * The name that a machine's k0s goes by, where that is not its Node's any more: it was renamed. Its kubelet may speak for the old
 * name only, by its certificate, so that from its next start on nothing keeps the Node alive and no new one comes.
 */
export function renamedTo(host: Pick<HostFacts, "units" | "hostName">, nodeName: string): string | undefined {
    const { controller } = host.units;
    if (controller === undefined ? host.units.worker === undefined : !runsWorker(controller)) return undefined;
    const name = registeredName(host);
    return name === nodeName ? undefined : name;
}

/** What became of it, in one clause. */
export function describeRenamed(name: string, nodeName: string): string {
    return `the machine is called ${name} now, and its Node is ${nodeName}`;
}

/** How to mend it. */
export function renamedAdvice(host: Pick<HostFacts, "units">, nodeName: string): string {
    const service = host.units.controller === undefined ? "k0sworker" : "k0scontroller";
    return (
        `Name the machine ${nodeName} again (on it: \`hostnamectl set-hostname ${nodeName}\`, then \`systemctl restart ` +
        `${service}\`), or change \`triggers\`, which replaces the node by one of the new name.`
    );
}

/** Waiting, starting and restarting are of no use to a Node whose machine is called otherwise. */
const OF_NO_USE: readonly RepairAction[] = ["nothing", "wait-ready", "restart", "start-service", "reclaim"];

export function failRenamed(
    { host, nodeName }: RepairSituation,
    scenario: Scenario,
    { action, drift }: Pick<Repair, "action" | "drift">,
): Repair | undefined {
    const name = [3, 4, 6, 7].includes(scenario) && unitOf(host) !== undefined ? renamedTo(host, nodeName) : undefined;
    if (name === undefined || !OF_NO_USE.includes(action)) return undefined;
    return {
        ...failing([describeRenamed(name, nodeName), ...drift], "renamed-machine"),
        advice: renamedAdvice(host, nodeName),
    };
}
