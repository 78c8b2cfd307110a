import type { ControlNodeObject, EtcdMemberObject, NodeObject, NodeTaint } from "../../facts/cluster";
import type { MkeKube } from "./mke";

/** The Kubernetes API of one controller, by its admin certificate through SSH. It does and never decides. */
export interface Kube {
    /** UID of the `kube-system` namespace. */
    clusterId(): Promise<string>;
    /** Those of the `kube-system` namespace, for what is to be known as long as the cluster is. */
    clusterAnnotations(): Promise<Readonly<Record<string, string>>>;
    /** `null` removes a key. */
    annotateCluster(annotations: Annotations): Promise<void>;
    /** One group of health checks, e.g. `/readyz` or `/readyz/etcd`. */
    isReady(path: "/readyz" | "/readyz/etcd"): Promise<boolean>;
    /**
     * This API server's clock, milliseconds since 1970 and right to a second: its last answer's, and what passed since. Ages of
     * objects are measured against it (safety.md 22). Throws ApiError where no answer has named the time.
     */
    now(): number;

    nodes(): Promise<readonly NodeObject[]>;
    node(name: string): Promise<NodeObject | undefined>;
    /** Only while it is still the object with that UID; missing is fine. */
    deleteNode(name: string, uid: string): Promise<void>;
    /** With annotations in the same patch. */
    setUnschedulable(name: string, unschedulable: boolean, annotations: Annotations): Promise<void>;
    /** `null` removes a key. */
    annotateNode(name: string, annotations: Annotations): Promise<void>;
    labelNode(name: string, labels: Readonly<Record<string, string | null>>): Promise<void>;
    /** All its taints, only at that resourceVersion; a conflict answers false. */
    taintNode(name: string, taints: readonly NodeTaint[], resourceVersion: string): Promise<boolean>;

    podsOn(nodeName: string): Promise<readonly PodObject[]>;
    /** By the policy API. */
    evict(pod: PodObject, gracePeriodSeconds: number | undefined): Promise<Eviction>;

    etcdMembers(): Promise<readonly EtcdMemberObject[]>;
    /** Sets `spec.leave` and annotations in one patch; only while it is still the object with that UID. */
    patchEtcdMember(name: string, uid: string, change: EtcdMemberPatch): Promise<void>;
    deleteEtcdMember(name: string, uid: string): Promise<void>;

    controlNodes(): Promise<readonly ControlNodeObject[]>;
    deleteControlNode(name: string, uid: string): Promise<void>;
    /** True when the CRD `mkeconfigs.mke.mirantis.com` exists. */
    hasMke(): Promise<boolean>;
    /** Objects of MKE and of upgrades. */
    readonly mke: MkeKube;

    lease(namespace: string, name: string): Promise<LeaseObject | undefined>;
    leases(namespace: string, labelSelector?: string): Promise<readonly LeaseObject[]>;
    /** Conflict (exists already) answers undefined. */
    createLease(lease: NewLease): Promise<LeaseObject | undefined>;
    /** Only at that resourceVersion; a conflict answers undefined. */
    replaceLease(lease: LeaseObject): Promise<LeaseObject | undefined>;
    /** Only at that resourceVersion if one is given; missing is fine, a conflict answers false. */
    deleteLease(namespace: string, name: string, resourceVersion?: string): Promise<boolean>;

    close(): void;
}

/** `null` removes a key. */
export type Annotations = Readonly<Record<string, string | null>>;

export interface EtcdMemberPatch {
    readonly leave?: boolean;
    readonly annotations?: Readonly<Record<string, string | null>>;
}

/**
 * What the API server says to an eviction. `gone`: it is missing, or another pod has its name. `blocked`: a disruption budget
 * says not now (429). `failed`: another try may succeed, e.g. because an admission webhook does not answer, or denies it.
 */
export type Eviction = "accepted" | "gone" | { readonly blocked: string } | { readonly failed: string };

export interface PodObject {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly phase: string;
    /** Kind of the controlling owner, e.g. `DaemonSet`; undefined for a bare pod. */
    readonly ownerKind: string | undefined;
    /** Static pods, mirrored by the kubelet (annotation `kubernetes.io/config.mirror`). */
    readonly mirror: boolean;
    readonly deleting: boolean;
    readonly finalizers: readonly string[];
}

export interface NewLease {
    readonly namespace: string;
    readonly name: string;
    readonly holder: string;
    readonly durationSeconds: number;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
}

export interface LeaseObject extends NewLease {
    readonly uid: string;
    readonly resourceVersion: string;
    /** As it stands in the object (RFC 3339 with microseconds); replaceLease writes the current time. */
    readonly renewTime: string;
    readonly acquireTime: string;
}
