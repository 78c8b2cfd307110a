import { addHost, type DecideHosts } from "../decide/mke-hosts";
import { unchanged } from "../decide/refusal";
import { type Deadline, waitFor } from "../deadline";
import { RefusedError } from "../errors";
import type { Operation } from "./operation";
import { nothingToDo, type Outcome } from "./stage";

const STAGE = "updating MkeConfig";
/** What is said where the CRD is there and its one object is not. */
const NO_CONFIG = "there is no MkeConfig mke in namespace mke";

/** What the stage did. `changed`: an entry was added or removed now. */
export interface ConfigUpdate {
    readonly changed: boolean;
    readonly outcome: Outcome;
}

/** Before anything is changed: the entry could be written. */
export async function foreseeRegistration(operation: Operation): Promise<Outcome> {
    const config = await operation.cluster.kube.mke.config();
    if (config === undefined) return nothingToDo(NO_CONFIG);
    const change = addHost(config.hosts, operation.inputs);
    if (change.kind === "refuse") throw refusal(operation, change.why, unchanged(operation.begunBefore));
    return change.kind === "nothing" ? nothingToDo(change.why) : "can be listed";
}

/**
 * The host into `spec.hosts` or out of it (spec/002, "MkeConfig patch"). Only its own entry is written, and only into the
 * object that was read: after somebody else's write in between it is read again. A webhook that is away is waited for; what
 * a webhook says no to fails in its own words.
 */
export async function updateMkeConfig(
    operation: Operation,
    decide: DecideHosts,
    deadline: Deadline,
): Promise<ConfigUpdate> {
    const { cluster, inputs } = operation;
    return waitFor<ConfigUpdate>({
        stage: STAGE,
        host: inputs.host,
        deadline,
        maxInterval: 5000,
        advice: "Run again: what is done is not repeated.",
        look: async () => {
            const config = await cluster.kube.mke.config();
            if (config === undefined) return { done: { changed: false, outcome: nothingToDo(NO_CONFIG) } };
            const change = decide(config.hosts, inputs);
            if (change.kind === "refuse") throw refusal(operation, change.why, "The node itself is done.");
            if (change.kind === "nothing") return { done: { changed: false, outcome: nothingToDo(change.why) } };
            // The wait for a webhook may be long, and this process may have slept in it.
            await operation.held.prove();
            const written = await cluster.kube.mke.patchConfig(config.resourceVersion, change.operations);
            if (!written) return { seen: "MkeConfig was changed by somebody else meanwhile" };
            return { done: { changed: true, outcome: "done" } };
        },
    });
}

function refusal({ inputs }: Operation, why: string, state: string): RefusedError {
    return new RefusedError({
        stage: STAGE,
        host: inputs.host,
        what: why,
        advice: `${state} Give \`mke.keyPath\`, or correct \`spec.hosts\` (kubectl -n mke edit mkeconfig mke), and run again.`,
    });
}
