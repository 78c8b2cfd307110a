import type { SelinuxRule } from "../adapters/host/material";

/** systemd may start programs from here with the labels they have anyway. */
const PROGRAM_DIRECTORIES = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/;

/**
 * The labels that k0s asks for (its `docs/selinux.md`, 1.36), for the directories of this node. A program outside the usual
 * directories is labelled as one, so that systemd may start it.
 */
export function selinuxRules({ dataDir, k0sPath }: NodePaths): SelinuxRule[] {
    const data = literal(dataDir);
    return [
        { type: "container_runtime_exec_t", pattern: `${data}/bin/containerd.*` },
        { type: "container_runtime_exec_t", pattern: `${data}/bin/runc` },
        { type: "container_var_lib_t", pattern: `${data}/containerd(/.*)?` },
        {
            type: "container_ro_file_t",
            pattern: `${data}/containerd/io.containerd.snapshotter.*/snapshots(/.*)?`,
        },
        { type: "container_file_t", pattern: "/etc/cni/.*" },
        { type: "container_file_t", pattern: "/opt/cni/.*" },
        ...(PROGRAM_DIRECTORIES.test(k0sPath) ? [] : [{ type: "bin_t", pattern: literal(k0sPath) }]),
    ];
}

/** What is labelled anew by those rules; what is not there yet gets its label from its directory or later. */
export function selinuxPaths({ dataDir, k0sPath }: NodePaths): string[] {
    return [k0sPath, `${dataDir}/bin`, `${dataDir}/containerd`, "/etc/cni", "/opt/cni"];
}

export interface NodePaths {
    readonly dataDir: string;
    readonly k0sPath: string;
}

function literal(path: string): string {
    return path.replace(/[.^$*+?()[\]{}|\\]/g, "\\$&");
}
