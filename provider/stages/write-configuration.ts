import { configForJoiner } from "../adapters/k0s/config";
import { CONFIG_PATH } from "../adapters/k0s/paths";
import type { Deadline } from "../deadline";
import type { HostOperation } from "./operation";
import type { Outcome } from "./stage";

const CONFIG_MODE = 0o600;

/**
 * Writes the controller's k0s.yaml: the helper's, stripped of what belongs to the helper, with the joiner's addresses, and
 * the user's `k0sConfig` over it. The files it refers to were seen to before (`planConfiguration`).
 */
export async function writeConfiguration(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { target, cluster, inputs, peerAddress } = operation;
    const config = configForJoiner(cluster.config, { address: peerAddress }, inputs.k0sConfig);
    await target.writeFile(CONFIG_PATH, config, CONFIG_MODE, deadline);
    return CONFIG_PATH;
}
