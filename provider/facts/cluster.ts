/** What one look at a cluster through one of its controllers found. */
export interface ClusterFacts {
    /** The controller that was asked. Never the target of the operation, except for the last controller. */
    readonly helper: HelperFacts;
    readonly members: readonly Member[];
    /** undefined while there is no leader. */
    readonly leaderId: bigint | undefined;
    /** etcd alarms in words, e.g. `NOSPACE on 2f3a…`. */
    readonly alarms: readonly string[];
    readonly etcdMembers: readonly EtcdMemberObject[];
    readonly controlNodes: readonly ControlNodeObject[];
    readonly nodes: readonly NodeObject[];
    /** When each kubelet last renewed its Lease, by the name of its Node, milliseconds since 1970. */
    readonly heartbeats: Readonly<Record<string, number>>;
    /** The API server's clock when it answered for the Nodes, milliseconds since 1970: what their ages are measured against. */
    readonly now: number;
    /** True when the `MkeConfig` CRD exists. */
    readonly mke: boolean;
    /** Addresses that the helper finds for the names by which workers reach the API; absent: it finds none. */
    readonly resolved?: Readonly<Record<string, readonly string[]>>;
}

export interface HelperFacts {
    readonly address: string;
    readonly machineId: string;
    readonly nodeName: string;
    readonly memberId: bigint;
    /** UID of the `kube-system` namespace: the cluster's identity (safety.md 1). */
    readonly clusterId: string;
    /** `sha256:<hex>` of the CA's public key. */
    readonly caFingerprint: string;
    /** etcd's own cluster id: compared inside one operation, never stored. */
    readonly etcdClusterId: bigint;
    readonly k0sVersion: string;
    readonly dataDir: string;
    /** The program its service runs. */
    readonly k0sPath: string;
    /** The service's arguments, without the program. */
    readonly args?: readonly string[];
    /** Go's name, as in HostFacts. */
    readonly arch: string;
}

/** An etcd member, from etcd itself. */
export interface Member {
    readonly id: bigint;
    /** "" for a member that was added but never started. */
    readonly name: string;
    /** Host part of each peer URL. */
    readonly peerHosts: readonly string[];
    readonly learner: boolean;
    /** Proven through that controller's own API server (safety.md 9); `unknown` where nobody asked. */
    readonly health: MemberHealth;
}

export type MemberHealth = "healthy" | "unhealthy" | "unknown";

export interface EtcdMemberObject {
    readonly name: string;
    readonly uid: string;
    readonly leave: boolean;
    /** undefined: status never written. */
    readonly memberId: bigint | undefined;
    readonly peerAddress: string | undefined;
    readonly joined: "True" | "False" | "Unknown" | undefined;
    readonly message: string;
    readonly annotations: Readonly<Record<string, string>>;
}

export interface ControlNodeObject {
    readonly name: string;
    readonly uid: string;
    readonly addresses: readonly string[];
    readonly k0sVersion: string | undefined;
}

export interface NodeObject {
    readonly name: string;
    readonly uid: string;
    readonly ready: boolean;
    /** When Ready last changed, milliseconds since 1970; 0 where unknown. */
    readonly readySince: number;
    readonly unschedulable: boolean;
    readonly addresses: readonly string[];
    /** `status.nodeInfo.machineID`: ties a Node to a machine. */
    readonly machineId: string;
    /** undefined where it has not said. */
    readonly kubeletPort: number | undefined;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly taints: readonly NodeTaint[];
    readonly resourceVersion: string;
}

/** As the API has it. Key and effect together are its identity. */
export interface NodeTaint {
    readonly key: string;
    readonly value?: string;
    readonly effect: string;
}

/** k0s writes member IDs as hexadecimal without leading zeros; compare them as numbers. */
export function memberIdFromHex(hex: string): bigint {
    return BigInt(`0x${hex}`);
}

export function memberIdToHex(id: bigint): string {
    return id.toString(16);
}
