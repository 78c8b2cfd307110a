import { versionConflicts } from "../decide/component-versions";
import { RefusedError } from "../errors";
import type { Operation } from "./operation";
import type { Outcome } from "./stage";

/**
 * Versions must agree before anything is changed (spec/002, "components version check"; safety.md 22): of what is installed
 * (`installs`; not for a removal), of the controllers among each other, and no upgrade may be under way.
 */
export async function checkVersions(operation: Operation, installs: boolean): Promise<Outcome> {
    const { cluster, clusterFacts, inputs, kind, nodeName } = operation;
    const version = inputs.k0s.version ?? clusterFacts.helper.k0sVersion;
    const [plans, mkeConfig] = await Promise.all([
        cluster.kube.mke.plans(),
        clusterFacts.mke ? cluster.kube.mke.config() : undefined,
    ]);
    const conflicts = versionConflicts({
        cluster: clusterFacts,
        nodeName,
        plans,
        mkeConfig,
        ...(installs && { installs: { kind, version } }),
    });
    if (conflicts.length === 0) return installs ? version : "alike";
    throw new RefusedError({
        stage: "comparing versions",
        host: inputs.host,
        what: conflicts.join("; "),
        advice: "Nothing was changed. Finish the upgrade, or correct `k0s.version`, and run again.",
        topic: "version-mismatch",
    });
}
