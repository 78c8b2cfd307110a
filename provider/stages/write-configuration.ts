import { configForJoiner, filesReferredTo } from "../adapters/k0s/config";
import { CONFIG_PATH } from "../adapters/k0s/paths";
import type { Deadline } from "../deadline";
import { RefusedError } from "../errors";
import type { HostOperation } from "../pipelines/operation";
import type { Outcome } from "../pipelines/stage";

const CONFIG_MODE = 0o600;

/**
 * Writes the controller's k0s.yaml: the helper's, stripped of what belongs to the helper, with the joiner's addresses, and
 * the user's `k0sConfig` over it. A file it refers to must exist before the join (safety.md 17).
 */
export async function writeConfiguration(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { target, cluster, inputs, peerAddress } = operation;
    const config = configForJoiner(cluster.config, { address: peerAddress }, inputs.k0sConfig);
    const missing = await missingFiles(operation, filesReferredTo(config), deadline);
    if (missing.length > 0) {
        throw new RefusedError({
            stage: "writing configuration",
            host: target.address,
            what: `the cluster's k0s.yaml refers to files that are not on this host: ${missing.join(", ")}`,
            advice: `Copy them from ${cluster.helper.address} with owner and mode, then run again.`,
        });
    }
    await target.writeFile(CONFIG_PATH, config, CONFIG_MODE, deadline);
    return CONFIG_PATH;
}

async function missingFiles(
    { target }: HostOperation,
    paths: readonly string[],
    deadline: Deadline,
): Promise<string[]> {
    const found = await Promise.all(paths.map((path) => target.exists(path, deadline)));
    return paths.filter((_, index) => found[index] !== true);
}
