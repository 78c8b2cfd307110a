import { nodeIps } from "../../flags";
import type { NodeInputs } from "../../inputs";
import { CONFIG_PATH, TOKEN_PATH } from "./paths";

const KUBELET_EXTRA_ARGS = "--kubelet-extra-args=";

/** The kubelet refuses to start with most labels of these domains; they are set through the API afterwards. */
const RESERVED_LABEL = /(^|[./])(kubernetes|k8s)\.io\//;

/**
 * The flags of `k0s install controller|worker` for a joining node, in the order they end up in the unit. What the user
 * wrote comes last; `--kubelet-extra-args` is merged, because k0s takes the flag once (k0s-interfaces.md 2.3). `more`: what
 * the cluster asks of its nodes.
 */
export function installFlags(inputs: NodeInputs, peerAddress: string, more: readonly string[] = []): string[] {
    const own = inputs.installFlags.filter((flag) => !flag.startsWith(KUBELET_EXTRA_ARGS));
    return [
        ...(inputs.role === "worker" ? [] : [`--config=${CONFIG_PATH}`]),
        `--data-dir=${inputs.dataDir}`,
        ...(inputs.kubeletRootDir === undefined ? [] : [`--kubelet-root-dir=${inputs.kubeletRootDir}`]),
        `--token-file=${TOKEN_PATH}`,
        ...(inputs.role === "controller+worker" ? ["--enable-worker"] : []),
        ...kubeletFlags(inputs, peerAddress),
        ...more,
        ...own,
    ];
}

function kubeletFlags(inputs: NodeInputs, peerAddress: string): string[] {
    if (inputs.role === "controller") return [];
    const labels = Object.entries(inputs.labels)
        .filter(([key]) => !RESERVED_LABEL.test(key))
        .map(([key, value]) => `${key}=${value}`);
    const [, ...further] = nodeIps(inputs);
    const extra = [
        ...(inputs.nodeName === undefined ? [] : [`--hostname-override=${inputs.nodeName}`]),
        ...(inputs.privateAddress === undefined ? [] : [`--node-ip=${[peerAddress, ...further].join(",")}`]),
        ...inputs.installFlags
            .filter((flag) => flag.startsWith(KUBELET_EXTRA_ARGS))
            .map((flag) => flag.slice(KUBELET_EXTRA_ARGS.length)),
    ];
    return [
        ...(labels.length === 0 ? [] : [`--labels=${labels.join(",")}`]),
        ...(inputs.taints.length === 0 ? [] : [`--taints=${inputs.taints.join(",")}`]),
        ...(extra.length === 0 ? [] : [`${KUBELET_EXTRA_ARGS}${extra.join(" ")}`]),
    ];
}
