import { isDeepStrictEqual } from "node:util";
import { MKE_CRDS } from "../support/mke-crds";
import type { SimCluster } from "./k0s/cluster";
import { type KubeObject, type Resource, RESOURCES, type StoreChange } from "./model/store";
import { StatusError } from "./servers/api-request";

export const MKE_CONFIGS = resource("mkeconfigs", "MkeConfig", true);
const MKE_RELEASES = resource("mkereleases", "MkeRelease", false);
const CONTROLLERS = /^(controller\+worker|single)$/;

/** Simulated seconds: the operator looks, a Deployment's pods are there, the release is not Ready after a membership change. */
const OPERATOR = 3;
const ROLLOUT = 8;
const DISRUPTION = 5;

/** Entries of `spec.hosts` as a person wrote them, with fields that nobody here knows. */
export function hostEntry(address: string, role = "controller+worker"): Record<string, unknown> {
    return {
        role,
        ssh: { address, user: "ubuntu", port: 22, keyPath: "/keys/cluster.pem" },
        noTaints: true,
        unheardOf: { list: [1, null, "x"] },
    };
}

/**
 * MKE on a simulated cluster: an operator that scales its add-ons to the number of controllers in MkeConfig, and a webhook
 * that wants a Ready MkeRelease. None of it is recorded; it does what mkectl's documentation says of it.
 */
export class SimMke {
    /** The webhook's answer to writes of MkeConfig; undefined: it only asks for a Ready release. */
    webhook: "away" | { readonly denies: string } | undefined;
    /** Called once, before the next write of MkeConfig that comes through the API: a writer who is faster. */
    faster: (() => void) | undefined;
    /** Rejections so far. */
    readonly rejected: string[] = [];
    private members: number;

    constructor(
        private readonly cluster: SimCluster,
        hosts: readonly unknown[],
    ) {
        const { store, world } = cluster;
        for (const crd of MKE_CRDS) store.create(RESOURCES.crds, crd);
        for (const name of ["mke", "k0rdent"]) store.create(RESOURCES.namespaces, { metadata: { name } });
        store.create(MKE_RELEASES, { metadata: { name: "mke-4.2.1" }, spec: { version: "v4.2.1" } });
        this.setRelease("True");
        store.create(MKE_CONFIGS, {
            metadata: { name: "mke", namespace: "mke" },
            spec: { version: "v4.2.1", hosts: [...hosts] },
            status: { observedGeneration: 1 },
        });
        cluster.watchers.push((kind, object, change) => this.changed(kind, object, change));
        cluster.admission = (kind) => this.admit(kind);
        cluster.interloper = (kind) => this.interlope(kind);
        this.addWorkload("mke", "dex");
        this.addWorkload("k0rdent", "kcm");
        this.members = cluster.etcd.members.length;
        const watch = (): void => {
            this.watchMembers();
            world.clock.after(0.5, watch);
        };
        watch();
    }

    get hosts(): readonly unknown[] {
        return this.config.spec?.["hosts"] as readonly unknown[];
    }

    get config(): KubeObject {
        return this.cluster.store.get(MKE_CONFIGS, "mke", "mke") as KubeObject;
    }

    deployment(namespace: string, name: string): KubeObject {
        return this.cluster.store.get(RESOURCES.deployments, name, namespace) as KubeObject;
    }

    /** As somebody else with kubectl. */
    edit(change: (spec: Record<string, unknown>) => void): void {
        this.cluster.store.update(MKE_CONFIGS, "mke", ({ spec }) => change(spec ?? {}), "mke");
    }

    private addWorkload(namespace: string, name: string): void {
        this.cluster.store.create(RESOURCES.deployments, {
            metadata: { name, namespace, labels: { "app.kubernetes.io/managed-by": "Helm" } },
            spec: { replicas: this.controllers },
        });
    }

    private get controllers(): number {
        return this.hosts.filter((host) => CONTROLLERS.test((host as { role: string }).role)).length;
    }

    private watchMembers(): void {
        const { etcd, world } = this.cluster;
        if (etcd.members.length === this.members) return;
        this.members = etcd.members.length;
        this.setRelease("False");
        world.clock.after(DISRUPTION, () => this.setRelease("True"));
    }

    private setRelease(status: string): void {
        this.cluster.store.update(MKE_RELEASES, "mke-4.2.1", (object) => {
            object.status = { conditions: [{ type: "Ready", status, message: "" }] };
        });
    }

    private admit(kind: Resource): void {
        if (kind.plural !== MKE_CONFIGS.plural) return;
        const { webhook } = this;
        if (webhook === "away") {
            throw this.reject(
                500,
                "InternalError",
                'failed calling webhook "mkeconfig.mke.mirantis.com": connection refused',
            );
        }
        const release = this.cluster.store.get(MKE_RELEASES, "mke-4.2.1");
        const isReady = isDeepStrictEqual(release?.status?.["conditions"], [
            { type: "Ready", status: "True", message: "" },
        ]);
        const why = webhook?.denies ?? (isReady ? undefined : "spec.version v4.2.1: no Ready MkeRelease");
        if (why === undefined) return;
        throw this.reject(
            403,
            "Forbidden",
            `admission webhook "mkeconfig.mke.mirantis.com" denied the request: ${why}`,
        );
    }

    private interlope({ plural }: Resource): void {
        const { faster } = this;
        if (plural !== MKE_CONFIGS.plural || faster === undefined) return;
        this.faster = undefined;
        faster();
    }

    private reject(code: number, reason: string, message: string): StatusError {
        this.rejected.push(message);
        return new StatusError(code, reason, message);
    }

    private changed({ plural }: Resource, { metadata, status }: KubeObject, change: StoreChange): void {
        if (change === "deleted" || status?.["observedGeneration"] === metadata.generation) return;
        const { clock } = this.cluster.world;
        const { name, namespace = "" } = metadata;
        if (plural === MKE_CONFIGS.plural) clock.after(OPERATOR, () => this.reconcile());
        if (plural === RESOURCES.deployments.plural) clock.after(ROLLOUT, () => this.rollOut(namespace, name));
    }

    private reconcile(): void {
        const { store } = this.cluster;
        for (const { metadata } of store.list(RESOURCES.deployments)) {
            const scale = (object: KubeObject): void =>
                void (object.spec = { ...object.spec, replicas: this.controllers });
            store.update(RESOURCES.deployments, metadata.name, scale, metadata.namespace);
        }
        const observe = (object: KubeObject): void => {
            object.status = { ...object.status, observedGeneration: object.metadata.generation };
        };
        store.update(MKE_CONFIGS, "mke", observe, "mke");
    }

    private rollOut(namespace: string, name: string): void {
        const finish = (object: KubeObject): void => {
            const replicas = object.spec?.["replicas"];
            const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas };
            object.status = { observedGeneration: object.metadata.generation, ...counts };
        };
        this.cluster.store.update(RESOURCES.deployments, name, finish, namespace);
    }
}

function resource(plural: string, kind: string, namespaced: boolean): Resource {
    return { group: "mke.mirantis.com", version: "v1alpha1", plural, kind, namespaced, custom: true };
}
