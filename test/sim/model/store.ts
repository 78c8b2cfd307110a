import type { Random } from "./random";

/** A Kubernetes object as JSON. */
export interface KubeObject {
    readonly apiVersion: string;
    readonly kind: string;
    metadata: ObjectMeta;
    spec?: Record<string, unknown>;
    status?: Record<string, unknown>;
    [field: string]: unknown;
}

export interface ObjectMeta {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    generation?: number;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
    ownerReferences?: Record<string, unknown>[];
}

/** A kind of object the API serves. */
export interface Resource {
    /** "" for the core group. */
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly kind: string;
    readonly namespaced: boolean;
    /** Its kind is defined by a CustomResourceDefinition: a changed UID is "invalid", not a conflict. */
    readonly custom?: true;
}

export const RESOURCES = {
    namespaces: { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
    nodes: { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false },
    pods: { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true },
    secrets: { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true },
    deployments: { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true },
    statefulSets: { group: "apps", version: "v1", plural: "statefulsets", kind: "StatefulSet", namespaced: true },
    leases: { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease", namespaced: true },
    crds: {
        group: "apiextensions.k8s.io",
        version: "v1",
        plural: "customresourcedefinitions",
        kind: "CustomResourceDefinition",
        namespaced: false,
    },
    etcdMembers: {
        group: "etcd.k0sproject.io",
        version: "v1beta1",
        plural: "etcdmembers",
        kind: "EtcdMember",
        namespaced: false,
        custom: true,
    },
    controlNodes: {
        group: "autopilot.k0sproject.io",
        version: "v1beta2",
        plural: "controlnodes",
        kind: "ControlNode",
        namespaced: false,
        custom: true,
    },
} as const satisfies Readonly<Record<string, Resource>>;

export function apiVersionOf({ group, version }: Resource): string {
    return group === "" ? version : `${group}/${version}`;
}

export type StoreChange = "created" | "changed" | "deleted";

/** The objects of one cluster, with one revision for all, as etcd has it. */
export class ObjectStore {
    private readonly objects = new Map<string, KubeObject>();
    private revision = 100;

    constructor(
        private readonly random: Random,
        /** RFC 3339 in whole seconds. */
        private readonly now: () => string,
        private readonly onChange: (resource: Resource, object: KubeObject, change: StoreChange) => void,
    ) {}

    get currentRevision(): number {
        return this.revision;
    }

    get(resource: Resource, name: string, namespace?: string): KubeObject | undefined {
        return this.objects.get(keyOf(resource, name, namespace));
    }

    list(resource: Resource, namespace?: string): KubeObject[] {
        const prefix = namespace === undefined ? `${resource.plural}/` : `${resource.plural}/${namespace}/`;
        const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
        return keys.map((key) => this.objects.get(key) as KubeObject);
    }

    /** Every object of every kind. */
    all(): readonly KubeObject[] {
        return [...this.objects.values()];
    }

    /** The object must not exist yet. */
    create(resource: Resource, object: Partial<KubeObject> & { metadata: ObjectMeta }): KubeObject {
        const created: KubeObject = {
            ...structuredClone(object),
            apiVersion: apiVersionOf(resource),
            kind: resource.kind,
            metadata: {
                ...structuredClone(object.metadata),
                uid: object.metadata.uid ?? this.random.uuid(),
                creationTimestamp: this.now(),
                resourceVersion: this.nextRevision(),
                generation: 1,
            },
        };
        this.objects.set(keyOf(resource, created.metadata.name, created.metadata.namespace), created);
        this.onChange(resource, created, "created");
        return created;
    }

    /** Puts other content into an existing object; what the server owns stays. */
    replace(resource: Resource, before: KubeObject, content: KubeObject): KubeObject {
        const { name, namespace, uid, creationTimestamp, deletionTimestamp, generation = 1 } = before.metadata;
        const specChanged = JSON.stringify(before.spec) !== JSON.stringify(content.spec);
        const changed: KubeObject = {
            ...structuredClone(content),
            apiVersion: before.apiVersion,
            kind: before.kind,
            metadata: {
                ...structuredClone(content.metadata),
                name,
                ...(namespace !== undefined && { namespace }),
                ...(uid !== undefined && { uid }),
                ...(creationTimestamp !== undefined && { creationTimestamp }),
                ...(deletionTimestamp !== undefined && { deletionTimestamp }),
                generation: specChanged ? generation + 1 : generation,
                resourceVersion: this.nextRevision(),
            },
        };
        this.objects.set(keyOf(resource, name, namespace), changed);
        this.onChange(resource, changed, "changed");
        return changed;
    }

    /** Changes an object by a function over a copy. */
    update(resource: Resource, name: string, change: (object: KubeObject) => void, namespace?: string): void {
        const before = this.get(resource, name, namespace);
        if (before === undefined) return;
        const copy = structuredClone(before);
        change(copy);
        const { deletionTimestamp } = copy.metadata;
        if (deletionTimestamp !== undefined) before.metadata = { ...before.metadata, deletionTimestamp };
        this.replace(resource, before, copy);
    }

    delete(resource: Resource, name: string, namespace?: string): void {
        const key = keyOf(resource, name, namespace);
        const object = this.objects.get(key);
        if (object === undefined) return;
        this.objects.delete(key);
        this.nextRevision();
        this.onChange(resource, object, "deleted");
    }

    private nextRevision(): string {
        this.revision += 1;
        return String(this.revision);
    }
}

function keyOf({ plural, namespaced }: Resource, name: string, namespace = ""): string {
    return namespaced ? `${plural}/${namespace}/${name}` : `${plural}/${name}`;
}
