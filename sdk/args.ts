/**
 * Inputs, as a program sees them. `docs/inputs.md` has the same as a table. What is written here about
 * errors is found by `check`, in a preview already, unless it says otherwise; nothing has been contacted then.
 */
import type { Input } from "@pulumi/pulumi";
import type { ClusterArgs, ConnectionArgs } from "./connection-args";
import type { K0sConfig } from "./k0s-config";

/** Where the k0s program comes from. Used when it is installed; a later difference is never repaired, clusters are upgraded by others. */
export interface K0sArgs {
    /** Version to install, e.g. `v1.36.3+k0s.2`. Default: the version of the controller that helps. */
    version?: Input<string>;
    /** URL that the host itself fetches the program from, https, or http together with `sha256`. Stored as a secret where it has a login or a query. Default: copied from the controller that helps. Error: together with `localPath`. */
    downloadUrl?: Input<string>;
    /** SHA-256 of the program, 64 hexadecimal digits. Error: without `downloadUrl` or `localPath`. Default: not compared. */
    sha256?: Input<string>;
    /** Path of a k0s program on the machine that runs Pulumi. Error: together with `downloadUrl`. */
    localPath?: Input<string>;
    /** OCI artifact that holds the program, `registry/path:tag` or `registry/path@sha256:…`; read with `registry`. Error: together with `downloadUrl` or `localPath`. */
    ociArtifact?: Input<string>;
    /** Path of the program on the host. Default `/usr/local/bin/k0s`. Error: not absolute, or inside `dataDir`. */
    installPath?: Input<string>;
}

/** Emptying a node before it is removed. */
export interface DrainArgs {
    /** False: the node is neither cordoned nor drained before it is removed. Default true. */
    enabled?: Input<boolean>;
    /** Seconds for the whole drain of a node, without the wait for its turn. Default 300. */
    timeout?: Input<number>;
    /** Seconds that a pod gets to end; -1 = what the pod itself says. Default -1. */
    gracePeriod?: Input<number>;
    /** `continue`: a drain that fails is reported and the removal goes on, as with `mkectl`. `fail`: the removal ends there. Default `continue`. */
    onFailure?: Input<"continue" | "fail">;
    /** How many nodes of the cluster drain at a time, also where other processes drain. Default 1. */
    concurrency?: Input<number>;
}

/**
 * Backups of the cluster before and after its etcd members change. By default `k0s backup` runs on the controller that
 * helps and stays there (mode 0600, the last five are kept).
 */
export interface BackupArgs {
    /** No backups. Default false. */
    skip?: Input<boolean>;
    /** Directory on the machine that runs Pulumi to stream them to. Default: they stay on the controller. Error: neither `passphrase` nor `unencrypted`. */
    directory?: Input<string>;
    /** Encrypts what goes into `directory`, for the `age` tool; 12 bytes or more. Stored as a secret. */
    passphrase?: Input<string>;
    /** Writes into `directory` without encryption. A backup holds the cluster's keys. Default false. */
    unencrypted?: Input<boolean>;
}

/** The lock that keeps operations on one cluster apart. */
export interface LockArgs {
    /** Take over a lock of another owner once its holder has not renewed it for longer than it lives, instead of failing. Default false. */
    adoptStale?: Input<boolean>;
}

/** How to read from the registry of `k0s.ociArtifact`, and the certificate authority that the hosts are to trust for it. */
export interface RegistryArgs {
    /** Login name. Default: MkeConfig's, else none. Error: without `password`. */
    username?: Input<string>;
    /** Its password or token. Stored as a secret. Default: MkeConfig's, else none. Error: without `username`. */
    password?: Input<string>;
    /** Certificate of the authority that the registry's own is issued by, PEM. Default: MkeConfig's, else the system's. Error: not PEM. */
    caCertificate?: Input<string>;
}

/** For MKE 4 clusters; without effect where there is no MkeConfig. */
export interface MkeArgs {
    /** `ssh.keyPath` of the host's entry in MkeConfig: a path where mkectl runs. Default: that of another entry of the same role. */
    keyPath?: Input<string>;
    /** Restart MKE's own workloads after controllers came or went, so that they spread over all of them. Default true. */
    redistributeWorkloads?: Input<boolean>;
}

/** Limits of the waits, in seconds. */
export interface TimeoutArgs {
    /** Until the target answers by SSH. Default 300. */
    connect?: Input<number>;
    /** Until the lock of the cluster or node is ours; 0 = fail at once. Default 600. */
    lock?: Input<number>;
    /** For the k0s program to arrive on the host. Default 600. */
    binary?: Input<number>;
    /** From the start of the service to a voting etcd member. Default 300 (6 to 10 s were observed). */
    etcdJoin?: Input<number>;
    /** Until the Node is registered and Ready. Default 600. */
    ready?: Input<number>;
    /** Until the member has left etcd. Default 360 (3 s were observed, 296 s for a dead host). */
    leave?: Input<number>;
    /** Until the API answers again after a change of etcd's members. Default 600. */
    api?: Input<number>;
    /** For the service to stop. Default 120. */
    stop?: Input<number>;
    /** For `k0s reset`. Default 300. */
    reset?: Input<number>;
    /** For one backup. Default 600. */
    backup?: Input<number>;
    /** Until MKE's release is Ready and its add-ons have scaled. Default 900. */
    addons?: Input<number>;
}

/** What the host must have before anything is installed; `false` turns a check off. */
export interface PreflightArgs {
    /** Whether the Linux must be one of those that MKE 4 supports and k0s runs on. Default true. */
    os?: Input<boolean>;
    /** CPUs. Default 1. */
    minCpus?: Input<number | false>;
    /** MiB of memory. Default 900. */
    minMemoryMiB?: Input<number | false>;
    /** MiB free where `dataDir` is or will be. Default 1700. */
    minDiskMiB?: Input<number | false>;
    /** cgroup version 2, without which kubelet does not start (k0s 1.36.3, observed). Default true. Error: false without `--ignore-pre-flight-checks` among `installFlags`. */
    cgroupV2?: Input<boolean>;
    /** Seconds that its clock and the API server's may differ by, as k0sctl has it. Default 30. */
    maxClockSkew?: Input<number | false>;
}

/** Inputs that both kinds of node have. */
export interface NodeArgs {
    /** Address or name of the machine, without user and port. The machine's identity: another host is another node. Error: two resources of a program with one host. */
    host: Input<string>;
    /** How to log in. Default: root, port 22, with the agent of the process. */
    connection?: Input<ConnectionArgs>;
    /** The cluster to join, or to leave. */
    cluster: Input<ClusterArgs>;
    /** Name of the Node: lower-case letters, digits, `-` and `.`. Default: the machine's host name in lower case. Another name is another node. */
    nodeName?: Input<string>;
    /** IP address for etcd's peers and the kubelet. Default: `host` if it is an address of the machine, else found on it. Another address is another node. */
    privateAddress?: Input<string>;
    /** Where the k0s program comes from. Default: copied from a controller, in its version. */
    k0s?: Input<K0sArgs>;
    /** How to read from the registry. */
    registry?: Input<RegistryArgs>;
    /** k0s's data directory. Default `/var/lib/k0s`. Another directory is another node. Error: not absolute, or a directory of the system: a reset empties it. */
    dataDir?: Input<string>;
    /** kubelet's root directory. Default: `kubelet` in `dataDir`. Another directory is another node. */
    kubeletRootDir?: Input<string>;
    /** Further flags of `k0s install`, one `--name` or `--name=value` each. A change restarts k0s on the running node, controllers one at a time. Error: flags that have an input of their own. Default: none. */
    installFlags?: Input<readonly Input<string>[]>;
    /** Labels of the Node; those that the program drops are taken off again, those of others stay. Default: none. Error: no label key or value, one that kubelet sets itself, or for a role without a Node. */
    labels?: Input<Readonly<Record<string, Input<string>>>>;
    /** Taints of the Node, `key=value:Effect` or `key:Effect`; given to it when k0s is installed, and by the API when they change; those of others stay. Default: none. */
    taints?: Input<readonly Input<string>[]>;
    /** Emptying the node before it is removed. */
    drain?: Input<DrainArgs>;
    /** The lock that keeps operations apart. */
    lock?: Input<LockArgs>;
    /** For MKE 4 clusters. */
    mke?: Input<MkeArgs>;
    /** Limits of the waits. */
    timeouts?: Input<TimeoutArgs>;
    /** What the host must have. */
    preflight?: Input<PreflightArgs>;
    /** A removal whose host does not answer: `fail`, or `remove-from-cluster` to take it out on the cluster's side where etcd's quorum permits; its machine is then left as it is. Default `fail`. */
    onUnreachable?: Input<"fail" | "remove-from-cluster">;
    /** A host that is already a node of this cluster: `unmarked` takes it over if nobody owns it, `takeOver` also from another owner, `never` refuses. Default `unmarked`. */
    adopt?: Input<"unmarked" | "never" | "takeOver">;
    /** Any values; a change of them replaces the node, as in `@pulumi/command`. For machines that change behind a stable address. Default: none. */
    triggers?: Input<readonly unknown[]>;
}

/** Inputs of a controller. */
export interface MkeControllerNodeArgs extends NodeArgs {
    /** With or without a kubelet. Default `controller+worker`. Another role is another node. */
    role?: Input<"controller+worker" | "controller">;
    /** k0s configuration (`ClusterConfig`), merged over the one taken from a controller that helps. A change exchanges what changed in the node's own and restarts k0s, controllers one at a time. Default: none. */
    k0sConfig?: Input<K0sConfig | object>;
    /** Backups before and after etcd's members change. Default: on the controller that helps. */
    backup?: Input<BackupArgs>;
    /** Removal of the cluster's last controller: `fail`, or `reset`, which ends the cluster. Default `fail`. */
    onLastController?: Input<"fail" | "reset">;
    /** Removal although workers reach the API only through this controller. Default false. */
    allowStrandedWorkers?: Input<boolean>;
    /**
     * Permits the resource options `deletedWith` and `retainOnDelete`, which skip the removal and so leave a dead etcd
     * member behind unless the whole cluster goes. Default false: the constructor throws. Never sent to the provider.
     */
    allowSkippedRemoval?: boolean;
}

/** Inputs of a worker. */
export type MkeWorkerNodeArgs = NodeArgs;
