import type { NodeKind } from "../inputs";
import type { EtcdIds } from "./etcd-data";

/** What one look at a host found. Made by the host probe (`adapters/host/scripts/probe.sh`), read by the pure decisions. */
export interface HostFacts {
    /** The address it was reached at: the `host` input, not something the host says. */
    readonly address: string;
    readonly machineId: string;
    /** The kernel's host name, as it is (case kept). k0s lower-cases it for Node and EtcdMember names. */
    readonly hostName: string;
    /** All addresses of all interfaces but loopback, without prefix length. */
    readonly addresses: readonly string[];
    readonly os: {
        readonly id: string;
        readonly idLike: readonly string[];
        readonly versionId: string;
        readonly name: string;
    };
    /** Go's names: `amd64`, `arm64`, `arm`. */
    readonly arch: string;
    readonly cpus: number;
    readonly memoryMiB: number;
    readonly cgroupVersion: 1 | 2 | undefined;
    /** Free space where the data directory is or will be. */
    readonly diskFreeMiB: number;
    /** The host's clock when it answered, seconds since 1970. */
    readonly clock: number;
    readonly selinux: "enforcing" | "permissive" | "disabled";
    readonly init: "systemd" | "openrc" | "other";
    readonly binary: K0sBinary | undefined;
    readonly units: { readonly controller: UnitFacts | undefined; readonly worker: UnitFacts | undefined };
    readonly status: K0sStatus;
    /** A k0s daemon holds `/run/k0s/k0s.yaml.lock`, whatever its unit says. */
    readonly runLockHeld: boolean;
    readonly ca: CaFacts;
    readonly data: DataFacts;
    /** Mount points at or below the data directory and the kubelet root, outermost first. */
    readonly mounts: readonly string[];
    readonly tokenFile: "absent" | "blank" | "token";
    /** Server in `kubelet.conf`, e.g. `https://10.0.0.1:6443`; undefined where there is none. */
    readonly apiServer: string | undefined;
    readonly marker: HostMarker | undefined;
    /** A live k0sctl lock file (touched in the last 30 s), k0sctl v0.32. */
    readonly k0sctlLock: { readonly holder: string; readonly ageSeconds: number } | undefined;
}

export interface K0sBinary {
    readonly path: string;
    /** `v1.36.3+k0s.2`; undefined where the program could not say. */
    readonly version: string | undefined;
}

export interface UnitFacts {
    readonly enabled: boolean;
    /** systemd's ActiveState: active, inactive, activating, deactivating, failed. */
    readonly active: string;
    /** systemd's SubState, e.g. `running`, `auto-restart`. */
    readonly sub: string;
    readonly restarts: number;
    /** argv of the service, first the binary. Flags with secrets are cut to their name. */
    readonly args: readonly string[];
}

/** The status socket's answer. `silent`: no socket or no answer in time. */
export type K0sStatus =
    | { readonly state: "silent"; readonly reason: string }
    | {
          readonly state: "answers";
          readonly role: NodeKind;
          readonly workloads: boolean;
          readonly singleNode: boolean;
          readonly version: string;
          readonly dataDir: string;
          readonly kubeletRootDir: string | undefined;
          readonly invocationId: string;
      };

export interface CaFacts {
    /** `sha256:<hex>` of the public key (SPKI) of `<data-dir>/pki/ca.crt`. */
    readonly pki: string | undefined;
    /** The same of the CA inside `<data-dir>/kubelet.conf` (or `/run/k0s/kubelet/ca.crt`). */
    readonly kubelet: string | undefined;
    /** True where a CA file exists but cannot be read as a certificate. */
    readonly unreadable: boolean;
}

export interface DataFacts {
    /** As it was asked about: the input `dataDir`. */
    readonly dir: string;
    /** The same of the input `kubeletRootDir`; absent: below the data directory. */
    readonly kubeletRoot?: string;
    readonly exists: boolean;
    readonly pki: boolean;
    /** `<data-dir>/etcd/member/snap/db` exists: k0s will not join (again) but start this member. */
    readonly etcdDatabase: boolean;
    /** `<data-dir>/etcd/member` exists. */
    readonly etcdMember: boolean;
    /** What the database says of itself; absent where there is none, or where it lies in a directory of its own. */
    readonly etcdIds?: EtcdIds;
    readonly kubeletConf: boolean;
    /** Entries of the data directory that neither k0s nor we put there (`images` and `lost+found` are fine). */
    readonly foreign: readonly string[];
    /** The same of a kubelet root directory of its own, as far as kubelet's names go (Kubernetes 1.36). */
    readonly foreignKubelet: readonly string[];
}

/** Our file on the host, `/etc/pulumi-mke/node.json`, mode 0600. Survives `k0s reset`. */
export interface HostMarker {
    readonly version: 1;
    readonly owner: string;
    /** Made by each `create`; not a secret. */
    readonly token: string;
    readonly role: NodeKind;
    readonly nodeName: string;
    /** UID of the `kube-system` namespace. */
    readonly clusterId: string;
    readonly machineId: string;
    readonly operation?: OperationRecord;
    /** The program's flags as its service had them when it was last given or found to have them; absent on an adopted node. */
    readonly flags?: readonly string[];
    /** What we put on the host beside k0s; noted before it is put there. */
    readonly put?: PutOnHost;
}

/** To be taken away again when the node is removed (safety.md 15). */
export interface PutOnHost {
    /** Files that were not there before, wherever they lie. */
    readonly files: readonly string[];
    /** Directories that were made for them. */
    readonly directories: readonly string[];
    /** Patterns of SELinux rules that were added. */
    readonly selinux: readonly string[];
    /** systemd units, e.g. `etcd-maintenance.service`. */
    readonly units: readonly string[];
}

/** What an operation is about, written before its first change (safety.md 11). */
export interface OperationRecord {
    readonly id: string;
    /** `reinstall`: other settings for its k0s; neither host nor member come or go. */
    readonly kind: "add" | "remove" | "rebuild" | "reinstall";
    readonly owner: string;
    readonly target: string;
    /** Name of its Node; absent in records of older versions. */
    readonly nodeName?: string;
    /** Member IDs (hex) before the operation. */
    readonly baseline: readonly string[];
    /** Member ID (hex) that is to be removed. */
    readonly removing?: string;
    /** It is the last controller's removal: the cluster ends with it (safety.md 24). */
    readonly endsCluster?: boolean;
    /** What reinstalls that did not end may have given k0s; in the marker only, which root alone can read. */
    readonly settings?: readonly NodeSettings[];
    /** Of a reinstall: k0s has to start with them. */
    readonly restart?: boolean;
}

/** Inputs that k0s was given, as far as they may change while the node stays. */
export interface NodeSettings {
    readonly installFlags: readonly string[];
    readonly taints: readonly string[];
    readonly k0sConfig?: Readonly<Record<string, unknown>>;
}
