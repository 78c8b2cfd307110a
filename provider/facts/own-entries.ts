/** What k0s puts into its data directory, and what may lie there before it (k0s 1.30 – 1.36). */
export const OWN_ENTRIES: ReadonlySet<string> = new Set([
    "bin",
    "containerd",
    "db",
    "etcd",
    "helmhome",
    "images",
    "konnectivity.conf",
    "kubelet",
    "kubelet-bootstrap.conf",
    "kubelet-config.yaml",
    "kubelet.conf",
    "lost+found",
    "manifests",
    "nllb",
    "pki",
    "run",
    "worker-profile.yaml",
]);

/** What kubelet puts into its root directory (Kubernetes 1.30 – 1.36). */
export const KUBELET_ENTRIES: ReadonlySet<string> = new Set([
    "actuated_pods_state",
    "allocated_pods_state",
    "checkpoints",
    "containers",
    "cpu_manager_state",
    "device-plugins",
    "dra_manager_state",
    "image_manager",
    "lost+found",
    "memory_manager_state",
    "pki",
    "plugin-containers",
    "plugins",
    "plugins_registry",
    "pod-resources",
    "pods",
    "seccomp",
    "usernamespaces",
    "volumes",
]);

/** Of files on their way into place. */
export const TEMPORARY_PREFIX = ".pulumi-mke-";

/** First parts, below `directory`, of those of these paths that lie in it. */
export function namesBelow(directory: string, paths: readonly string[]): string[] {
    const prefix = `${directory}/`;
    return paths.flatMap((path) => (path.startsWith(prefix) ? path.slice(prefix.length).split("/", 1) : []));
}
