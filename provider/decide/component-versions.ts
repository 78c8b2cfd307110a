import type { MkeConfigObject, PlanObject } from "../adapters/kube/mke";
import type { ClusterFacts, NodeObject } from "../facts/cluster";
import type { NodeKind } from "../inputs";
import { versionProblems } from "./cluster-health";

/** What the comparison is made on. */
export interface Versions {
    readonly cluster: ClusterFacts;
    /** The node of the operation; it never counts. */
    readonly nodeName: string;
    readonly plans: readonly PlanObject[];
    /** undefined where the cluster has none. */
    readonly mkeConfig: MkeConfigObject | undefined;
    /** The k0s that is about to be installed; undefined for a removal. */
    readonly installs?: { readonly kind: NodeKind; readonly version: string };
}

/**
 * States in which autopilot has finished with a plan: it handles a plan without a state, `Schedulable` and `SchedulableWait`,
 * and no other (k0s 1.36.3, pkg/autopilot/controller/plans). `Warning` is left out: it is written when a step is to be tried again.
 */
const ENDED_PLANS = new Set(["Completed", "IncompleteTargets", "Restricted", "ApplyFailed"]);

/** Control plane nodes say which MKE version they are at (docs.mirantis.com, "Obtain the version of the current cluster"). */
const MKE_VERSION_LABEL = "mke/version";
const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

const UPGRADING = /^(upgrad|rollback|rolling.?back)/i;

/** What forbids an operation because of versions (safety.md 22), a clause each; empty when they agree. */
export function versionConflicts(versions: Versions): string[] {
    const { cluster, nodeName, plans, mkeConfig, installs } = versions;
    return [
        ...(installs === undefined ? [] : installProblems(installs, cluster.helper.k0sVersion)),
        ...versionProblems(cluster, { nodeNames: [nodeName], memberIds: [] }).map(({ what }) => what),
        ...unfinishedPlans(plans).map(describePlan),
        ...(mkeConfig === undefined ? [] : upgradeProblems(mkeConfig, cluster.nodes, nodeName)),
    ];
}

/** Those that autopilot has not finished with. */
export function unfinishedPlans(plans: readonly PlanObject[]): PlanObject[] {
    return plans.filter(({ state }) => !ENDED_PLANS.has(state));
}

/** Older ones differ in what joins and leaves depend on (README, "Requirements"); nodes that run them are still looked after. */
const OLDEST = { major: 1, minor: 34 } as const;

/** A controller joins with the cluster's own version; a worker's may be older, by minor version also never newer. */
export function installProblems(installs: NonNullable<Versions["installs"]>, clusters: string): string[] {
    const own = minorOf(installs.version);
    const isTooOld =
        own !== undefined && (own.major < OLDEST.major || (own.major === OLDEST.major && own.minor < OLDEST.minor));
    if (isTooOld) {
        const oldest = `${OLDEST.major}.${OLDEST.minor}`;
        return [`k0s ${installs.version} would be installed, and new nodes need ${oldest} or newer`];
    }
    return differenceFrom(clusters, installs);
}

function differenceFrom(clusters: string, { kind, version }: NonNullable<Versions["installs"]>): string[] {
    if (kind === "controller") {
        return version === clusters ? [] : [`k0s ${version} would be installed, the cluster runs ${clusters}`];
    }
    const [own, theirs] = [minorOf(version), minorOf(clusters)];
    if (own === undefined || theirs === undefined) {
        return version === clusters ? [] : [`k0s ${version} cannot be compared with the cluster's ${clusters}`];
    }
    const isNewer = own.major > theirs.major || (own.major === theirs.major && own.minor > theirs.minor);
    return isNewer ? [`the worker's k0s ${version} would be newer than the controllers' ${clusters}`] : [];
}

function minorOf(version: string): { readonly major: number; readonly minor: number } | undefined {
    const parts = /^v?(\d+)\.(\d+)\./.exec(version);
    return parts === null ? undefined : { major: Number(parts[1]), minor: Number(parts[2]) };
}

function describePlan({ name, state }: PlanObject): string {
    return `autopilot plan ${name} is unfinished (${state === "" ? "not looked at yet" : state})`;
}

/** An MkeConfig's status is not documented: every field of it that would tell counts, and so do the nodes' labels. */
function upgradeProblems(config: MkeConfigObject, nodes: readonly NodeObject[], nodeName: string): string[] {
    const { version, appliedVersion, phase, conditions } = config;
    const differs = (other: string): boolean => version !== undefined && bare(other) !== bare(version);
    const behind = nodes.filter(({ name, labels }) => {
        const at = labels[MKE_VERSION_LABEL];
        return name !== nodeName && CONTROL_PLANE_LABEL in labels && at !== undefined && differs(at);
    });
    return [
        ...(appliedVersion !== undefined && differs(appliedVersion)
            ? [`MkeConfig wants version ${version}, its status says ${appliedVersion}`]
            : []),
        ...(phase !== undefined && UPGRADING.test(phase) ? [`MkeConfig says ${phase}`] : []),
        ...conditions
            .filter(({ type, status }) => UPGRADING.test(type) && status === "True")
            .map(({ type, message }) => `MkeConfig says ${type}${message === "" ? "" : `: ${message}`}`),
        ...behind.map(
            ({ name, labels }) => `Node ${name} is at MKE ${labels[MKE_VERSION_LABEL]}, MkeConfig wants ${version}`,
        ),
    ];
}

function bare(version: string): string {
    return version.replace(/^v/, "");
}
