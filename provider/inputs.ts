/**
 * Inputs as the provider sees them: checked, defaults filled in, plain values. `sdk/args.ts` and `sdk/connection-args.ts`
 * document each for users.
 */

export type Role = "controller+worker" | "controller" | "worker";

/** Which of the two resources: both share inputs, outputs and most of the code. */
export type NodeKind = "controller" | "worker";

/** The kind that a role belongs to; what is no role at all, in inputs that nobody checked yet, counts as a controller's. */
export function kindOf(role: unknown): NodeKind {
    return role === "worker" ? "worker" : "controller";
}

/** Login to a host; names, units and defaults as in pulumi-command's `Connection`, without `host`. */
export interface Connection {
    readonly user: string;
    readonly port: number;
    readonly privateKey?: string;
    readonly privateKeyPassword?: string;
    readonly password?: string;
    readonly agentSocketPath?: string;
    /** A public key (`ssh-ed25519 AAAA…`) or a fingerprint (`SHA256:…`). */
    readonly hostKey?: string;
    /** How many times dialling may fail before the error is reported; -1 = forever (until the deadline). */
    readonly dialErrorLimit: number;
    /** Seconds for one attempt, 0 = no limit of its own. */
    readonly perDialTimeout: number;
    readonly proxy?: ProxyConnection;
    readonly sudoPassword?: string;
}

export type ProxyConnection = Omit<Connection, "proxy" | "sudoPassword"> & { readonly host: string };

export interface ControllerAddress {
    readonly host: string;
    readonly connection: Connection;
}

export interface ClusterInputs {
    readonly controllers: readonly ControllerAddress[];
    /** Pin: UID of the `kube-system` namespace. */
    readonly id?: string;
    /** Pin: `sha256:<hex>` of the CA's public key. */
    readonly caFingerprint?: string;
    readonly minControllers: number;
    readonly maxControllers: number;
}

export interface K0sSource {
    /** Version to install; default: the helper's. Without effect on a running node. */
    readonly version?: string;
    readonly downloadUrl?: string;
    readonly sha256?: string;
    /** A k0s binary on the machine that runs Pulumi. */
    readonly localPath?: string;
    /** An OCI artifact that holds the k0s binary: `registry.example.com/mke/k0s:v1.36.3-k0s.2`. */
    readonly ociArtifact?: string;
    readonly installPath: string;
}

export interface DrainInputs {
    readonly enabled: boolean;
    readonly timeout: number;
    /** Seconds a pod gets; -1 = what the pod itself says. */
    readonly gracePeriod: number;
    readonly onFailure: "continue" | "fail";
    /** How many nodes of a cluster drain at a time, across processes. */
    readonly concurrency: number;
}

/** What is kept of the cluster before and after its etcd members change (safety.md 23). */
export interface BackupInputs {
    readonly skip: boolean;
    /** Directory on the machine that runs Pulumi; absent: the backup stays on the helper. */
    readonly directory?: string;
    /** Encrypts what goes into `directory`. */
    readonly passphrase?: string;
    /** `directory` without a passphrase, asked for in so many words. */
    readonly unencrypted: boolean;
}

export interface LockInputs {
    /** Take over a Lease of another owner that was not renewed for longer than it lives, instead of failing. */
    readonly adoptStale: boolean;
}

/** How to read from the registry that the cluster's artifacts come from; absent fields come from MkeConfig, where there is one. */
export interface RegistryInputs {
    readonly username?: string;
    readonly password?: string;
    /** PEM. */
    readonly caCertificate?: string;
}

/** Only for clusters that have an MkeConfig. */
export interface MkeInputs {
    /** Path of the SSH key as MkeConfig names it (`spec.hosts[].ssh.keyPath`), valid where mkectl runs. */
    readonly keyPath?: string;
    /** Restart MKE's workloads after controllers came or went, so that they spread. */
    readonly redistributeWorkloads: boolean;
}

/** All in seconds. */
export interface Timeouts {
    /** Until the target answers by SSH. */
    readonly connect: number;
    readonly lock: number;
    readonly binary: number;
    /** From the start of the service to a voting member. */
    readonly etcdJoin: number;
    /** Until the Node is registered and Ready. */
    readonly ready: number;
    /** Until the member has left etcd. */
    readonly leave: number;
    /** Until the API answers again after a membership change. */
    readonly api: number;
    readonly stop: number;
    readonly reset: number;
    /** For one backup. */
    readonly backup: number;
    /** Until MKE's release is Ready and its add-ons have scaled. */
    readonly addons: number;
}

/** `false` turns the check off. */
export interface Preflight {
    readonly os: boolean;
    readonly minCpus: number | false;
    readonly minMemoryMiB: number | false;
    readonly minDiskMiB: number | false;
    /** Off only together with k0s's own pre-flight (`--ignore-pre-flight-checks` among `installFlags`). */
    readonly cgroupV2: boolean;
    /** Seconds that the machine's clock and the API server's may differ by. */
    readonly maxClockSkew: number | false;
}

export interface NodeInputs {
    readonly host: string;
    readonly connection: Connection;
    readonly cluster: ClusterInputs;
    readonly role: Role;
    /** Default: the host's name, lower case. */
    readonly nodeName?: string;
    /** Address for etcd peers and the kubelet; default: `host` if it is an address of the machine, else found on it. */
    readonly privateAddress?: string;
    readonly k0s: K0sSource;
    readonly registry: RegistryInputs;
    readonly dataDir: string;
    readonly kubeletRootDir?: string;
    readonly installFlags: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
    readonly taints: readonly string[];
    /** Merged over the configuration taken from the helper, later over the node's own; controllers only. */
    readonly k0sConfig?: Readonly<Record<string, unknown>>;
    readonly drain: DrainInputs;
    readonly backup: BackupInputs;
    readonly lock: LockInputs;
    readonly mke: MkeInputs;
    readonly timeouts: Timeouts;
    readonly preflight: Preflight;
    readonly onUnreachable: "fail" | "remove-from-cluster";
    readonly onLastController: "fail" | "reset";
    readonly adopt: "unmarked" | "never" | "takeOver";
    readonly allowStrandedWorkers: boolean;
    readonly triggers: readonly unknown[];
    /** organisation/project/stack/name, from the class; never a reason to replace. */
    readonly owner: string;
}
