import type { Output } from "@pulumi/pulumi";
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

/**
 * Outputs of both kinds: the inputs with their defaults, under their own names and in the units of `args.ts`, and what was
 * found. Nothing in them changes by itself: only `pulumi up` and `pulumi refresh` write them.
 */
export interface NodeResult {
    readonly host: Output<string>;
    /** Secret where it holds a key or password. */
    readonly connection: Output<Connection>;
    /** Each controller with the login that is used for it. Secret where one holds a key or password. */
    readonly cluster: Output<ClusterInputs>;
    /** `worker` for a worker. */
    readonly role: Output<Role>;
    /** The input, where there was one; `peerAddress` is the address that the node has. */
    readonly privateAddress: Output<string | undefined>;
    /** Secret where `downloadUrl` holds a login or a query. */
    readonly k0s: Output<K0sSource>;
    readonly dataDir: Output<string>;
    /** The input, where there was one; kubelet's own default is `kubelet` in `dataDir`. */
    readonly kubeletRootDir: Output<string | undefined>;
    readonly installFlags: Output<readonly string[]>;
    /** Those that the program gave; a Node has others besides. */
    readonly labels: Output<Readonly<Record<string, string>>>;
    /** Those that the program gave, as `key=value:Effect` or `key:Effect`; a Node may have others besides. */
    readonly taints: Output<readonly string[]>;
    readonly drain: Output<DrainInputs>;
    /** Secret where it holds a passphrase. The default for a worker, which has no use for it. */
    readonly backup: Output<BackupInputs>;
    readonly lock: Output<LockInputs>;
    readonly mke: Output<MkeInputs>;
    /** Secret where it holds a password. */
    readonly registry: Output<RegistryInputs>;
    /** All in seconds. */
    readonly timeouts: Output<Timeouts>;
    readonly preflight: Output<Preflight>;
    readonly onUnreachable: Output<"fail" | "remove-from-cluster">;
    /** `fail` for a worker, which has no use for it. */
    readonly onLastController: Output<"fail" | "reset">;
    readonly adopt: Output<"unmarked" | "never" | "takeOver">;
    /** False for a worker, which has no use for it. */
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
    /** Version of k0s on the host when it was last looked at, e.g. `v1.36.3+k0s.2`. */
    readonly k0sVersion: Output<string>;
    /** `/etc/machine-id` of the machine: another one under the same address is another machine. */
    readonly machineId: Output<string>;
    /** Address of its etcd peer, or of its kubelet. */
    readonly peerAddress: Output<string>;
    /** `ready`; `joining`: an add did not reach its end; `degraded`: `drift` says what is wrong; `unreachable`: nobody answered. */
    readonly status: Output<NodeStatus>;
    /** What the last look found, in a sentence. It begins with `rebuild: ` where an update would remove the node and add it again. */
    readonly state: Output<string>;
    /** What differs from what it should be, a sentence each. Anything in it makes the next `pulumi up` look and repair. */
    readonly drift: Output<readonly string[]>;
    /** Tells this node from an earlier one on the same host; not a secret. */
    readonly token: Output<string>;
    /** Whether the k0s program was put there by this package, and goes with the node. */
    readonly installedBinary: Output<boolean>;
    /** Version of the shape of these outputs, for later versions of this package. */
    readonly schemaVersion: Output<number>;
}
