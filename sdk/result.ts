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
