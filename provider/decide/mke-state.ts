import type { MkeConfigObject, MkeReleaseObject, WorkloadObject } from "../adapters/kube/mke";

/** The namespaces of MKE's own workloads. */
export const MKE_NAMESPACES = ["mke", "k0rdent"] as const;

/**
 * By this label a workload of those namespaces counts as MKE's: what MKE deploys, it deploys from charts, and charts set it.
 * Which label mkectl goes by is not documented.
 */
const MANAGED_BY = "app.kubernetes.io/managed-by";

/** Conditions that say the operator is done, and conditions that say it is not, where an MkeConfig has them. */
const DONE = new Set(["Ready", "Available"]);
const BUSY = new Set(["Progressing", "Reconciling", "Upgrading"]);

/**
 * The release that `spec.version` names: by `spec.version`, else by name. Names of objects cannot hold every version, so `v`,
 * case and separators do not count.
 */
export function releaseFor(version: string, releases: readonly MkeReleaseObject[]): MkeReleaseObject | undefined {
    const wanted = plain(version);
    return (
        releases.find((release) => release.version !== undefined && plain(release.version) === wanted) ??
        releases.find((release) => plain(release.name) === wanted || plain(release.name).endsWith(`-${wanted}`))
    );
}

function plain(version: string): string {
    return version
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replace(/(^|-)v(?=\d)/, "$1");
}

/** What of MKE has not come to rest yet, a clause each; empty when its add-ons have scaled. */
export function unsettled(config: MkeConfigObject | undefined, workloads: readonly WorkloadObject[]): string[] {
    return [...(config === undefined ? [] : configUnsettled(config)), ...workloads.flatMap(workloadUnsettled)];
}

function configUnsettled({ generation, observedGeneration, conditions }: MkeConfigObject): string[] {
    if (observedGeneration !== undefined && observedGeneration < generation) {
        return ["the MKE operator has not looked at MkeConfig yet"];
    }
    return conditions
        .filter(({ type, status }) => (DONE.has(type) && status === "False") || (BUSY.has(type) && status === "True"))
        .map(({ type, status, message }) => `MkeConfig says ${type}=${status}${message === "" ? "" : `: ${message}`}`);
}

/** As `kubectl rollout status` sees it. */
function workloadUnsettled(workload: WorkloadObject): string[] {
    const { namespace, name, generation, observedGeneration, wanted, replicas, updated, ready, paused, rolls } =
        workload;
    if (paused || !rolls) return [];
    if (observedGeneration < generation) return [`${namespace}/${name} was not looked at yet`];
    if (updated === wanted && replicas === wanted && ready === wanted) return [];
    return [`${namespace}/${name} has ${updated} of ${wanted} replicas updated, ${ready} ready, ${replicas} in all`];
}

/** What a redistribution restarts; what `kubectl rollout restart` would not restart, or has no pods, is left alone. */
export function redistributed(workloads: readonly WorkloadObject[]): WorkloadObject[] {
    return workloads.filter(
        ({ labels, paused, rolls, wanted }) => labels[MANAGED_BY] !== undefined && !paused && rolls && wanted > 0,
    );
}
