import type { ClusterFacts, NodeObject } from "../facts/cluster";
import type { HostFacts, UnitFacts } from "../facts/host";
import { addressesOf, sharedAddresses } from "../address";
import { isController, whichCluster } from "./identity";
import { MATRIX, type Scenario } from "./matrix";
import { type Refusal, refuse } from "./refusal";
import { runsWorker } from "./role";

export interface ScenarioReport {
    readonly kind: "scenario";
    readonly scenario: Scenario;
    /** The document's words for the scenario. */
    readonly title: string;
    /** What was seen where, a clause each. */
    readonly evidence: readonly string[];
    /** True where every start of k0s passes through it: look again for a bounded time before believing it. */
    readonly passing: boolean;
}

/** One of the 11 scenarios of the document; a combination that is not in its table is refused. */
export function scenarioOf(host: HostFacts, cluster: ClusterFacts, nodeName: string): ScenarioReport | Refusal {
    const node = nodeOf(host, cluster, nodeName);
    const seen = { host, cluster, node, evidence: describe(host, cluster, node, nodeName) };
    if (unitOf(host) === undefined && (host.runLockHeld || host.status.state === "answers")) {
        return refuse("k0s runs, but not as a service", seen.evidence, "unknown-state");
    }
    return isInstalled(host) ? installed(seen) : notInstalled(seen);
}

/** The Node of that name, if it is this machine's: by machine id, or by address where the machine was made anew. */
export function nodeOf(host: HostFacts, { nodes }: ClusterFacts, nodeName: string): NodeObject | undefined {
    return nodes.find((node) => node.name === nodeName && isNodeOf(host, node));
}

export function isNodeOf(host: HostFacts, { machineId, addresses }: NodeObject): boolean {
    if (machineId !== "" && machineId === host.machineId) return true;
    return sharedAddresses(addresses, addressesOf(host)).length > 0;
}

/** The service that runs k0s; the controller's where both are installed. */
export function unitOf({ units }: HostFacts): UnitFacts | undefined {
    return units.controller ?? units.worker;
}

/** Its k0s runs, or is about to. */
export function isStarting({ active }: UnitFacts): boolean {
    return active === "active" || active === "activating";
}

/**
 * The unit is active and the status socket answers for the unit's role. It says nothing of membership: a controller removed
 * from outside stays healthy in this sense, one that left is idle with an active unit and a silent socket (observed.md).
 */
export function isHealthy(host: HostFacts): boolean {
    const { status, units } = host;
    if (status.state !== "answers") return false;
    return (status.role === "controller" ? units.controller : units.worker)?.active === "active";
}

/** What k0s itself leaves: images put there beforehand and an empty mount point are none of it. */
export function hasK0sData({ data }: HostFacts): boolean {
    return data.pki || data.etcdMember || data.etcdDatabase || data.kubeletConf;
}

interface Seen {
    readonly host: HostFacts;
    readonly cluster: ClusterFacts;
    readonly node: NodeObject | undefined;
    readonly evidence: readonly string[];
}

function isInstalled(host: HostFacts): boolean {
    return host.binary !== undefined || unitOf(host) !== undefined;
}

function notInstalled({ host, cluster, evidence }: Seen): ScenarioReport | Refusal {
    switch (whichCluster(host, cluster.helper)) {
        case "this":
            return report(10, evidence);
        case "another":
            return refuse("k0s is not installed, but another cluster's CA is left", evidence, "foreign-cluster");
        case "unreadable":
            return report(9, evidence);
        case "none":
            return report(hasK0sData(host) ? 9 : 1, evidence);
    }
}

function installed(seen: Seen): ScenarioReport | Refusal {
    return isHealthy(seen.host) ? healthy(seen) : unhealthy(seen);
}

function healthy({ host, cluster, node, evidence }: Seen): ScenarioReport | Refusal {
    const identity = whichCluster(host, cluster.helper);
    if (identity === "another") return report(5, evidence);
    if (identity !== "this") return refuse("k0s runs, but its cluster's CA cannot be read", evidence, "unknown-state");
    if (!hasNode(host)) return report(2, evidence);
    if (node === undefined) return report(4, evidence);
    return report(node.ready ? 2 : 3, evidence);
}

function unhealthy({ host, cluster, node, evidence }: Seen): ScenarioReport {
    const unit = unitOf(host);
    const starting = unit !== undefined && isStarting(unit);
    switch (whichCluster(host, cluster.helper)) {
        case "this":
            return report(node === undefined ? 7 : 6, evidence, starting);
        case "another":
            return report(8, evidence, starting);
        case "unreadable":
            return report(9, evidence, starting);
        case "none":
            return unit === undefined && !hasK0sData(host) ? report(0, evidence) : report(9, evidence, starting);
    }
}

/** A plain controller registers no Node; where its k0s is healthy it counts as registered and ready. */
function hasNode(host: HostFacts): boolean {
    if (!isController(host)) return true;
    const { status, units } = host;
    if (status.state === "answers") return status.workloads;
    return units.controller !== undefined && runsWorker(units.controller);
}

function report(scenario: Scenario, evidence: readonly string[], passing = false): ScenarioReport {
    return { kind: "scenario", scenario, title: MATRIX[scenario].title, evidence, passing };
}

function describe(host: HostFacts, cluster: ClusterFacts, node: NodeObject | undefined, nodeName: string): string[] {
    const unit = unitOf(host);
    const { status, binary } = host;
    const service = host.units.controller === undefined ? "k0sworker" : "k0scontroller";
    return [
        binary === undefined ? "no k0s program" : `k0s program ${binary.path} (${binary.version ?? "version unknown"})`,
        unit === undefined ? "no service" : `service ${service} is ${unit.active} (${unit.sub})`,
        status.state === "answers" ? `k0s status says ${status.role}` : `k0s status is silent: ${status.reason}`,
        `CA on the host: ${CA_WORDS[whichCluster(host, cluster.helper)]}`,
        hasK0sData(host) ? `k0s data in ${host.data.dir}` : `no k0s data in ${host.data.dir}`,
        node === undefined
            ? `Node ${nodeName} is not registered by it`
            : `Node ${nodeName} is ${node.ready ? "Ready" : "NotReady"}`,
    ];
}

const CA_WORDS = {
    this: "this cluster's",
    another: "another cluster's",
    none: "none",
    unreadable: "unreadable",
} as const;
