import type { PlanObject } from "../adapters/kube/mke";
import { unfinishedPlans, versionConflicts } from "../decide/component-versions";
import { unchanged } from "../decide/refusal";
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
        advice: `${unchanged(operation.begunBefore)} ${adviceFor(unfinishedPlans(plans))}`,
        topic: "version-mismatch",
    });
}

/** A stopped k0s never takes its step of a plan, and while the plan waits for it nothing here starts it. */
function adviceFor(plans: readonly PlanObject[]): string {
    const [plan] = plans;
    if (plan === undefined) return "Finish the upgrade, or correct `k0s.version`, and run again.";
    return (
        "Wait until the plan has ended, and run again. A k0s that is stopped may be what keeps it unfinished: start it by hand on its " +
        `host; or end the plan on a controller: \`k0s kubectl delete plan ${plan.name}\`.`
    );
}
