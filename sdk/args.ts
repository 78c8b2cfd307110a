/**
 * Inputs and outputs, as a program sees them. `docs/inputs.md` has the same as a table. What is written here about
 * errors is found by `check`, in a preview already, unless it says otherwise; nothing has been contacted then.
 */
import type { Input, Output } from "@pulumi/pulumi";
import type {
    BackupInputs,
    ClusterInputs,
    Connection,
    DrainInputs,
    K0sSource,
    LockInputs,
    MkeInputs,
    Preflight,
    RegistryInputs,
    Role,
    Timeouts,
} from "../provider/inputs";
import type { NodeStatus } from "../provider/resource/state";

/** How to log in to a host. Names, units and defaults are those of `@pulumi/command`'s connection, but `host`. */
export interface ConnectionArgs {
    /** Login name. Anybody but root needs `sudo`, without a password or with `sudoPassword`. Default `root`. */
    readonly user?: Input<string>;
    /** TCP port of sshd, 1 to 65535. Default 22. */
    readonly port?: Input<number>;
    /** Content of a private key, PEM or OpenSSH, not a path. Stored as a secret. Error: anything else, or an encrypted key without `privateKeyPassword`. */
    readonly privateKey?: Input<string>;
    /** Passphrase of `privateKey`. Stored as a secret. */
    readonly privateKeyPassword?: Input<string>;
    /** Login password, tried after the key. Stored as a secret. */
    readonly password?: Input<string>;
    /** Socket of an SSH agent on the machine that runs Pulumi. Default: `SSH_AUTH_SOCK` of the process, where it is set. */
    readonly agentSocketPath?: Input<string>;
    /**
     * The key that the host must present: a public key (`ssh-ed25519 AAAA…`) or its fingerprint (`SHA256:…`), of the target,
     * also behind a proxy. Another key ends the operation at once, without a second try. Default: any key is accepted.
     */
    readonly hostKey?: Input<string>;
    /** How many times dialling may fail before that is reported; -1 = until the time limit (`timeouts.connect`). Default 10. */
    readonly dialErrorLimit?: Input<number>;
    /** Seconds for one attempt; 0 = no limit of its own. Default 15. */
    readonly perDialTimeout?: Input<number>;
    /** A bastion host to go through. Default: none. */
    readonly proxy?: Input<ProxyConnectionArgs>;
    /** Password for `sudo`; given to it on its standard input. Stored as a secret. Default: sudo asks for none. */
    readonly sudoPassword?: Input<string>;
}

/** A bastion host: its address, and the login there. */
export interface ProxyConnectionArgs {
    /** Address or name of the bastion host. */
    readonly host: Input<string>;
    /** Login name. Default `root`. */
    readonly user?: Input<string>;
    /** TCP port of sshd. Default 22. */
    readonly port?: Input<number>;
    /** Content of a private key. Stored as a secret. */
    readonly privateKey?: Input<string>;
    /** Passphrase of `privateKey`. Stored as a secret. */
    readonly privateKeyPassword?: Input<string>;
    /** Login password. Stored as a secret. */
    readonly password?: Input<string>;
    /** Socket of an SSH agent. Default: `SSH_AUTH_SOCK` of the process, where it is set. */
    readonly agentSocketPath?: Input<string>;
    /** The key that the bastion host must present. Default: any. */
    readonly hostKey?: Input<string>;
    /** How many times dialling may fail; -1 = until the time limit. Default 10. */
    readonly dialErrorLimit?: Input<number>;
    /** Seconds for one attempt; 0 = no limit of its own. Default 15. */
    readonly perDialTimeout?: Input<number>;
}

/** A controller of the cluster, to get help from. */
export interface ControllerAddressArgs {
    /** Its address or name, as seen from the machine that runs Pulumi. */
    readonly host: Input<string>;
    /** The login there. Default: the resource's own `connection`, without its `hostKey`. */
    readonly connection?: Input<ConnectionArgs>;
}

/** The cluster that a node belongs to. No change of it replaces a node. */
export interface ClusterArgs {
    /**
     * Controllers of the cluster; at least one. They are asked in this order, the target of an operation never helps with
     * itself, and those that are blank, unreachable or of another cluster are passed over. Error: an empty list.
     */
    readonly controllers: Input<Input<ControllerAddressArgs>[]>;
    /** Pin: UID of the cluster's `kube-system` namespace. A controller with another one does not help. Default: what the first contact found. */
    readonly id?: Input<string>;
    /** Pin: `sha256:<hex>` of the public key of the cluster's CA. Default: what the first contact found. */
    readonly caFingerprint?: Input<string>;
    /** A removal that would leave fewer controllers is refused before anything is touched. Default 1. */
    readonly minControllers?: Input<number>;
    /** An addition that would make more controllers is refused before anything is touched. Default 7. */
    readonly maxControllers?: Input<number>;
}

/** Where the k0s program comes from. Used when it is installed; a later difference is never repaired, clusters are upgraded by others. */
export interface K0sArgs {
    /** Version to install, e.g. `v1.36.3+k0s.2`. Default: the version of the controller that helps. */
    readonly version?: Input<string>;
    /** URL that the host itself fetches the program from, https, or http together with `sha256`. Default: copied from the controller that helps. Error: together with `localPath`. */
    readonly downloadUrl?: Input<string>;
    /** SHA-256 of the program, 64 hexadecimal digits. Error: without `downloadUrl` or `localPath`. Default: not compared. */
    readonly sha256?: Input<string>;
    /** Path of a k0s program on the machine that runs Pulumi. Error: together with `downloadUrl`. */
    readonly localPath?: Input<string>;
    /** OCI artifact that holds the program, `registry/path:tag` or `registry/path@sha256:…`; read with `registry`. Error: together with `downloadUrl` or `localPath`. */
    readonly ociArtifact?: Input<string>;
    /** Path of the program on the host. Default `/usr/local/bin/k0s`. Error: not absolute, or inside `dataDir`. */
    readonly installPath?: Input<string>;
}

/** Emptying a node before it is removed. */
export interface DrainArgs {
    /** Default true. */
    readonly enabled?: Input<boolean>;
    /** Seconds for the whole drain. Default 300. */
    readonly timeout?: Input<number>;
    /** Seconds that a pod gets to end; -1 = what the pod itself says. Default -1. */
    readonly gracePeriod?: Input<number>;
    /** `continue`: a drain that fails is reported and the removal goes on, as with `mkectl`. `fail`: the removal ends there. Default `continue`. */
    readonly onFailure?: Input<"continue" | "fail">;
    /** How many nodes of the cluster drain at a time, also where other processes drain. Default 1. */
    readonly concurrency?: Input<number>;
}

/**
 * Backups of the cluster before and after its etcd members change. By default `k0s backup` runs on the controller that
 * helps and stays there (mode 0600, the last five are kept).
 */
export interface BackupArgs {
    /** No backups. Default false. */
    readonly skip?: Input<boolean>;
    /** Directory on the machine that runs Pulumi to stream them to. Default: they stay on the controller. Error: neither `passphrase` nor `unencrypted`. */
    readonly directory?: Input<string>;
    /** Encrypts what goes into `directory`, for the `age` tool; 12 bytes or more. Stored as a secret. */
    readonly passphrase?: Input<string>;
    /** Writes into `directory` without encryption. A backup holds the cluster's keys. Default false. */
    readonly unencrypted?: Input<boolean>;
}

/** The lock that keeps operations on one cluster apart. */
export interface LockArgs {
    /** Take over a lock of another owner once its holder has not renewed it for longer than it lives, instead of failing. Default false. */
    readonly adoptStale?: Input<boolean>;
}

/** How to read from the registry of `k0s.ociArtifact`, and the certificate authority that the hosts are to trust for it. */
export interface RegistryArgs {
    /** Default: MkeConfig's, else none. */
    readonly username?: Input<string>;
    /** Stored as a secret. Default: MkeConfig's, else none. */
    readonly password?: Input<string>;
    /** PEM. Default: MkeConfig's, else the system's. */
    readonly caCertificate?: Input<string>;
}

/** For MKE 4 clusters; without effect where there is no MkeConfig. */
export interface MkeArgs {
    /** `ssh.keyPath` of the host's entry in MkeConfig: a path where mkectl runs. Default: that of another entry of the same role. */
    readonly keyPath?: Input<string>;
    /** Restart MKE's own workloads after controllers came or went, so that they spread over all of them. Default true. */
    readonly redistributeWorkloads?: Input<boolean>;
}

/** Limits of the waits, in seconds. */
export interface TimeoutArgs {
    /** Until the target answers by SSH. Default 300. */
    readonly connect?: Input<number>;
    /** Until the lock of the cluster or node is ours; 0 = fail at once. Default 600. */
    readonly lock?: Input<number>;
    /** For the k0s program to arrive on the host. Default 600. */
    readonly binary?: Input<number>;
    /** From the start of the service to a voting etcd member. Default 300 (6 to 10 s were observed). */
    readonly etcdJoin?: Input<number>;
    /** Until the Node is registered and Ready. Default 600. */
    readonly ready?: Input<number>;
    /** Until the member has left etcd. Default 360 (3 s were observed, 296 s for a dead host). */
    readonly leave?: Input<number>;
    /** Until the API answers again after a change of etcd's members. Default 600. */
    readonly api?: Input<number>;
    /** For the service to stop. Default 120. */
    readonly stop?: Input<number>;
    /** For `k0s reset`. Default 300. */
    readonly reset?: Input<number>;
    /** For one backup. Default 600. */
    readonly backup?: Input<number>;
    /** Until MKE's release is Ready and its add-ons have scaled. Default 900. */
    readonly addons?: Input<number>;
}

/** What the host must have before anything is installed; `false` turns a check off. */
export interface PreflightArgs {
    /** A Linux that k0s supports. Default true. */
    readonly os?: Input<boolean>;
    /** Default 1. */
    readonly minCpus?: Input<number | false>;
    /** MiB. Default 900. */
    readonly minMemoryMiB?: Input<number | false>;
    /** MiB free where `dataDir` is or will be. Default 1700. */
    readonly minDiskMiB?: Input<number | false>;
    /** cgroup version 2, without which kubelet does not start (k0s 1.36.3, observed). Default true. Error: false without `--ignore-pre-flight-checks` among `installFlags`. */
    readonly cgroupV2?: Input<boolean>;
}

/** Inputs that both kinds of node have. */
export interface NodeArgs {
    /** Address or name of the machine, without user and port. The machine's identity: another host is another node. Error: two resources of a program with one host. */
    readonly host: Input<string>;
    /** How to log in. Default: root, port 22, with the agent of the process. */
    readonly connection?: Input<ConnectionArgs>;
    /** The cluster to join, or to leave. */
    readonly cluster: Input<ClusterArgs>;
    /** Name of the Node. Default: the machine's host name in lower case. Another name is another node. */
    readonly nodeName?: Input<string>;
    /** IP address for etcd's peers and the kubelet. Default: `host` if it is an address of the machine, else found on it. Another address is another node. */
    readonly privateAddress?: Input<string>;
    /** Where the k0s program comes from. Default: copied from a controller, in its version. */
    readonly k0s?: Input<K0sArgs>;
    /** How to read from the registry. */
    readonly registry?: Input<RegistryArgs>;
    /** k0s's data directory. Default `/var/lib/k0s`. Another directory is another node. Error: not absolute, or a directory of the system: a reset empties it. */
    readonly dataDir?: Input<string>;
    /** kubelet's root directory. Default: `kubelet` in `dataDir`. Another directory is another node. */
    readonly kubeletRootDir?: Input<string>;
    /** Further flags of `k0s install`, one `--name` or `--name=value` each. A change restarts k0s on the running node, controllers one at a time. Error: flags that have an input of their own. Default: none. */
    readonly installFlags?: Input<Input<string>[]>;
    /** Labels of the Node. Default: none. */
    readonly labels?: Input<Record<string, Input<string>>>;
    /** Taints of the Node, `key=value:Effect` or `key:Effect`; given to it when k0s is installed, and by the API when they change; those of others stay. Default: none. */
    readonly taints?: Input<Input<string>[]>;
    /** Emptying the node before it is removed. */
    readonly drain?: Input<DrainArgs>;
    /** The lock that keeps operations apart. */
    readonly lock?: Input<LockArgs>;
    /** For MKE 4 clusters. */
    readonly mke?: Input<MkeArgs>;
    /** Limits of the waits. */
    readonly timeouts?: Input<TimeoutArgs>;
    /** What the host must have. */
    readonly preflight?: Input<PreflightArgs>;
    /** A removal whose host does not answer: `fail`, or `remove-from-cluster` to take it out on the cluster's side where etcd's quorum permits. Default `fail`. */
    readonly onUnreachable?: Input<"fail" | "remove-from-cluster">;
    /** A host that is already a node of this cluster: `unmarked` takes it over if nobody owns it, `takeOver` also from another owner, `never` refuses. Default `unmarked`. */
    readonly adopt?: Input<"unmarked" | "never" | "takeOver">;
    /** Any values; a change of them replaces the node, as in `@pulumi/command`. For machines that change behind a stable address. Default: none. */
    readonly triggers?: Input<unknown[]>;
}

/** Inputs of a controller. */
export interface MkeControllerNodeArgs extends NodeArgs {
    /** With or without a kubelet. Default `controller+worker`. Another role is another node. */
    readonly role?: Input<"controller+worker" | "controller">;
    /** k0s configuration (`ClusterConfig`), merged over the one taken from a controller that helps. A change exchanges what changed in the node's own and restarts k0s, controllers one at a time. Default: none. */
    readonly k0sConfig?: Input<Record<string, unknown>>;
    /** Backups before and after etcd's members change. Default: on the controller that helps. */
    readonly backup?: Input<BackupArgs>;
    /** Removal of the cluster's last controller: `fail`, or `reset`, which ends the cluster. Default `fail`. */
    readonly onLastController?: Input<"fail" | "reset">;
    /** Removal although workers reach the API only through this controller. Default false. */
    readonly allowStrandedWorkers?: Input<boolean>;
    /**
     * Permits the resource options `deletedWith` and `retainOnDelete`, which skip the removal and so leave a dead etcd
     * member behind unless the whole cluster goes. Default false: the constructor throws. Never sent to the provider.
     */
    readonly allowSkippedRemoval?: boolean;
}

/** Inputs of a worker. */
export type MkeWorkerNodeArgs = NodeArgs;

/** Outputs of both kinds: the inputs with their defaults, and what was found. Nothing in them changes by itself. */
export interface NodeResult {
    readonly host: Output<string>;
    /** Secret where it holds a key or password. */
    readonly connection: Output<Connection>;
    /** Secret where it holds a key or password. */
    readonly cluster: Output<ClusterInputs>;
    readonly role: Output<Role>;
    readonly privateAddress: Output<string | undefined>;
    readonly k0s: Output<K0sSource>;
    readonly dataDir: Output<string>;
    readonly kubeletRootDir: Output<string | undefined>;
    readonly installFlags: Output<readonly string[]>;
    readonly labels: Output<Readonly<Record<string, string>>>;
    readonly taints: Output<readonly string[]>;
    readonly drain: Output<DrainInputs>;
    /** Secret where it holds a passphrase. */
    readonly backup: Output<BackupInputs>;
    readonly lock: Output<LockInputs>;
    readonly mke: Output<MkeInputs>;
    /** Secret where it holds a password. */
    readonly registry: Output<RegistryInputs>;
    readonly timeouts: Output<Timeouts>;
    readonly preflight: Output<Preflight>;
    readonly onUnreachable: Output<"fail" | "remove-from-cluster">;
    readonly onLastController: Output<"fail" | "reset">;
    readonly adopt: Output<"unmarked" | "never" | "takeOver">;
    readonly allowStrandedWorkers: Output<boolean>;
    readonly triggers: Output<readonly unknown[]>;
    /** organisation/project/stack/name, written to the host and the Node. */
    readonly owner: Output<string>;
    /** Name of the Node, as Kubernetes has it. */
    readonly nodeName: Output<string>;
    /** The input `nodeName`, where there was one. */
    readonly requestedNodeName: Output<string | undefined>;
    /** UID of the cluster's `kube-system` namespace. */
    readonly clusterId: Output<string>;
    /** `sha256:<hex>` of the public key of the cluster's CA. */
    readonly caFingerprint: Output<string>;
    /** Version of k0s on the host when it was last looked at. */
    readonly k0sVersion: Output<string>;
    readonly machineId: Output<string>;
    /** Address of its etcd peer, or of its kubelet. */
    readonly peerAddress: Output<string>;
    readonly status: Output<NodeStatus>;
    /** What the last look found, in a sentence. */
    readonly state: Output<string>;
    /** What differs from what it should be, a sentence each. Anything in it makes the next `pulumi up` look and repair. */
    readonly drift: Output<readonly string[]>;
    /** Tells this node from an earlier one on the same host; not a secret. */
    readonly token: Output<string>;
    /** Whether the k0s program was put there by this package, and goes with the node. */
    readonly installedBinary: Output<boolean>;
    readonly schemaVersion: Output<number>;
}
