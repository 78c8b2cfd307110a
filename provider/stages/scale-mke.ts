import type { WorkloadObject } from "../adapters/kube/mke";
import type { DecideHosts } from "../decide/mke-hosts";
import { MKE_NAMESPACES, redistributed, releaseFor, unsettled } from "../decide/mke-state";
import { type Deadline, waitFor } from "../deadline";
import { EngineGoneError } from "../engine";
import { MkeError } from "../errors";
import type { Operation } from "./operation";
import { nothingToDo, type Outcome, withWarning } from "./stage";
import { counted, shortList } from "../text";

/** Each of them is a clause of its own. */
const CLAUSES_SHOWN = 4;
/** How long the add-ons must be at rest where nothing says that the operator has seen the change; milliseconds. */
const QUIET = 10_000;

/**
 * Joins and leaves of controllers take the MkeRelease's readiness away for a while, and a webhook resolves `spec.version` to a
 * Ready one at each write to MkeConfig (spec/002, "MkeRelease readiness wait"). Where nothing is to be written, or no release
 * can be told to be the one, nothing is waited for: then the webhook decides.
 */
export async function waitForRelease(
    { cluster, inputs }: Operation,
    decide: DecideHosts,
    deadline: Deadline,
): Promise<Outcome> {
    return waitFor<Outcome>({
        stage: "waiting for the MkeRelease",
        host: inputs.host,
        deadline,
        maxInterval: 5000,
        advice: "Look at `kubectl get mkereleases -A -o yaml`; then run again: only MkeConfig is still to be written.",
        look: async () => {
            const [config, releases] = await Promise.all([cluster.kube.mke.config(), cluster.kube.mke.releases()]);
            if (config === undefined || decide(config.hosts, inputs).kind !== "patch")
                return { done: nothingToDo("not needed") };
            const { version } = config;
            if (version === undefined) return { done: "MkeConfig names no version" };
            const release = releaseFor(version, releases);
            if (release === undefined) return { done: `no MkeRelease is known to be ${version}` };
            return release.ready
                ? { done: release.name }
                : { seen: `MkeRelease ${release.name} is not Ready: ${release.state}` };
        },
    });
}

/**
 * Waits until MKE's operator and workloads are at rest (spec/002, "Addon scale-out wait"). The node is done by now, so that a
 * failure is told and nothing more (mke4-node-lifecycle.md 14).
 */
export function waitForAddons(operation: Operation, deadline: Deadline, quiet = QUIET): Promise<Outcome> {
    return orWarn(async () => `${counted(await settle(operation, deadline, quiet), "workload")} at rest`);
}

/** Restarts MKE's workloads so that they spread over the controllers (spec/002, "Workload redistribution"); a failure is told. */
export function redistributeWorkloads(operation: Operation, deadline: Deadline, quiet = 0): Promise<Outcome> {
    return orWarn(async () => {
        const workloads = redistributed(await readWorkloads(operation));
        const at = new Date().toISOString().replace(/\.\d+Z$/, "Z");
        for (const workload of workloads) await operation.cluster.kube.mke.restart(workload, at);
        await settle(operation, deadline, quiet);
        return `${counted(workloads.length, "workload")} restarted`;
    });
}

/** Answers how many there are. */
async function settle(operation: Operation, deadline: Deadline, quiet: number): Promise<number> {
    let restingSince: number | undefined;
    return waitFor<number>({
        stage: "waiting for the add-ons",
        host: operation.inputs.host,
        deadline,
        interval: 500,
        maxInterval: 5000,
        look: async () => {
            const [config, workloads] = await Promise.all([
                operation.cluster.kube.mke.config(),
                readWorkloads(operation),
            ]);
            const open = unsettled(config, workloads);
            if (open.length > 0) {
                restingSince = undefined;
                return { seen: shortList(open, CLAUSES_SHOWN, "; ") };
            }
            restingSince ??= performance.now();
            const isTold = config?.observedGeneration !== undefined;
            const isQuiet = isTold || performance.now() - restingSince >= quiet;
            return isQuiet ? { done: workloads.length } : { seen: "at rest, but not for long enough to be sure" };
        },
    });
}

async function readWorkloads({ cluster }: Operation): Promise<readonly WorkloadObject[]> {
    const lists = await Promise.all(MKE_NAMESPACES.map((namespace) => cluster.kube.mke.workloads(namespace)));
    return lists.flat();
}

async function orWarn(body: () => Promise<string>): Promise<Outcome> {
    try {
        return await body();
    } catch (error) {
        if (!(error instanceof MkeError) || error instanceof EngineGoneError) throw error;
        return withWarning(`not complete, going on: ${error.details.what}`);
    }
}
