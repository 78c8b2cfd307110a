import { splitFlag } from "../flags";
import type { Role } from "../inputs";

/**
 * The flags with which a node's k0s takes part in an external cloud provider, given when it is installed, so that it is not
 * installed twice (spec/002, "Cloud provider reinstall"). Its Node carries the taint
 * `node.cloudprovider.kubernetes.io/uninitialized` until the provider has looked at it; Ready does not wait for that.
 */
export interface CloudProviderFacts {
    /** `spec.cloudProvider.enabled` of MkeConfig: Kubernetes has had external providers only since 1.31. */
    readonly mke: boolean;
    /** argv of the helper's k0s. */
    readonly helperArgs: readonly string[];
    readonly role: Role;
    /** What the program gives itself; its word counts. */
    readonly installFlags: readonly string[];
}

/** Of the kubelet (k0s 1.36.3: `--cloud-provider=external`). */
const KUBELET_FLAG = "--enable-cloud-provider";
/** Of controllers: k0s's own provider, and its settings. */
const K0S_PROVIDER_FLAGS = [
    "--enable-k0s-cloud-provider",
    "--k0s-cloud-provider-port",
    "--k0s-cloud-provider-update-frequency",
];

export function cloudProviderFlags({ mke, helperArgs, role, installFlags }: CloudProviderFacts): string[] {
    const isGiven = (name: string): boolean => installFlags.some((flag) => nameOf(flag) === name);
    const kubelet = role !== "controller" && (mke || isOn(helperArgs, KUBELET_FLAG)) ? [KUBELET_FLAG] : [];
    const k0sProvider =
        role !== "worker" && isOn(helperArgs, "--enable-k0s-cloud-provider")
            ? helperArgs.filter((arg) => K0S_PROVIDER_FLAGS.includes(nameOf(arg)))
            : [];
    return [...kubelet, ...k0sProvider].filter((flag) => !isGiven(nameOf(flag)));
}

function isOn(args: readonly string[], name: string): boolean {
    return args.map(splitFlag).some((flag) => flag.name === name && flag.value === "true");
}

function nameOf(flag: string): string {
    return splitFlag(flag).name;
}
