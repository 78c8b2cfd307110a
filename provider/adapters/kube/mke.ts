import { ApiError } from "../../errors";
import { type Tree, treeOf } from "../tree";
import type { RawMeta, RawObject } from "./parse";
import type { HttpRequest } from "./transport";

/** Of what the provider reads and writes for MKE and of k0s's upgrades. It does and never decides. */
export interface MkeKube {
    /** The one MkeConfig, `mke` in namespace `mke`; undefined where there is none. */
    config(): Promise<MkeConfigObject | undefined>;
    /** Changes it only at that resourceVersion; a conflict answers false. Rejections of webhooks are errors with their words. */
    patchConfig(resourceVersion: string, operations: readonly PatchOperation[]): Promise<boolean>;
    releases(): Promise<readonly MkeReleaseObject[]>;
    /** Deployments and StatefulSets of a namespace. */
    workloads(namespace: string): Promise<readonly WorkloadObject[]>;
    /** As `kubectl rollout restart`; `at` in RFC 3339. */
    restart(workload: WorkloadObject, at: string): Promise<void>;
    /** Plans of k0s's autopilot. */
    plans(): Promise<readonly PlanObject[]>;
    /** Content (secret) of a `kubernetes.io/dockerconfigjson` Secret in namespace `mke`; undefined where there is none. */
    dockerConfig(secretName: string): Promise<string | undefined>;
}

/** An operation of a JSON patch (RFC 6902). */
export interface PatchOperation {
    readonly op: "add" | "remove" | "test";
    readonly path: string;
    readonly value?: unknown;
}

export interface ConditionObject {
    readonly type: string;
    readonly status: string;
    readonly message: string;
}

export interface MkeConfigObject {
    readonly resourceVersion: string;
    readonly generation: number;
    readonly version: string | undefined;
    /** `spec.hosts` as it stands; undefined where the field is missing. */
    readonly hosts: readonly unknown[] | undefined;
    readonly imageRegistry: ImageRegistry | undefined;
    /** `spec.cloudProvider.enabled`. */
    readonly cloudProvider: boolean;
    /** Fields of the status that say which generation and version were carried out, where there are any. */
    readonly observedGeneration: number | undefined;
    readonly appliedVersion: string | undefined;
    readonly phase: string | undefined;
    readonly conditions: readonly ConditionObject[];
}

/** `spec.registries.imageRegistry`: `url` is without a scheme. */
export interface ImageRegistry {
    readonly url: string;
    readonly caData: string | undefined;
    readonly credentialsSecretName: string | undefined;
}

export interface MkeReleaseObject {
    readonly name: string;
    readonly version: string | undefined;
    readonly ready: boolean;
    /** What its status says, for a person. */
    readonly state: string;
}

export interface WorkloadObject {
    readonly kind: "Deployment" | "StatefulSet";
    readonly namespace: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly paused: boolean;
    /** False for a StatefulSet that replaces its pods only when somebody deletes them. */
    readonly rolls: boolean;
    readonly generation: number;
    readonly observedGeneration: number;
    /** `spec.replicas`; the API's default is 1. */
    readonly wanted: number;
    readonly replicas: number;
    readonly updated: number;
    readonly ready: number;
}

export interface PlanObject {
    readonly name: string;
    /** "" before autopilot looked at it. */
    readonly state: string;
}

/** What this file needs of the client around it. */
interface Requests {
    find(path: string): Promise<RawObject | undefined>;
    list(path: string): Promise<readonly RawObject[]>;
    change(request: HttpRequest, answers: readonly number[]): Promise<RawObject | undefined>;
}

const MKE_NAMESPACE = "mke";
const CONFIG = `/apis/mke.mirantis.com/v1alpha1/namespaces/${MKE_NAMESPACE}/mkeconfigs/mke`;
/** Cluster-wide list: whether the kind is namespaced is not documented, and the path serves both. */
const RELEASES = "/apis/mke.mirantis.com/v1alpha1/mkereleases";
const PLANS = "/apis/autopilot.k0sproject.io/v1beta2/plans";
const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

const CONFLICT = 409;
const INVALID = 422;

export class MkeClient implements MkeKube {
    constructor(private readonly requests: Requests) {}

    async config(): Promise<MkeConfigObject | undefined> {
        const raw = await this.requests.find(CONFIG);
        return raw && parseConfig(raw);
    }

    async patchConfig(resourceVersion: string, operations: readonly PatchOperation[]): Promise<boolean> {
        const test: PatchOperation = { op: "test", path: "/metadata/resourceVersion", value: resourceVersion };
        const request: HttpRequest = {
            method: "PATCH",
            path: CONFIG,
            contentType: "application/json-patch+json",
            body: [test, ...operations],
        };
        try {
            return (await this.requests.change(request, [CONFLICT])) !== undefined;
        } catch (error) {
            // A test that failed is "invalid", in the same words as any other patch that does not fit (1.36, observed).
            if (!(error instanceof ApiError) || error.code !== INVALID) throw error;
            const now = await this.config();
            if (now?.resourceVersion === resourceVersion) throw error;
            return false;
        }
    }

    async releases(): Promise<readonly MkeReleaseObject[]> {
        return (await this.requests.list(RELEASES)).map(parseRelease);
    }

    async workloads(namespace: string): Promise<readonly WorkloadObject[]> {
        const [deployments, statefulSets] = await Promise.all([
            this.requests.list(workloadsPath("Deployment", namespace)),
            this.requests.list(workloadsPath("StatefulSet", namespace)),
        ]);
        return [
            ...deployments.map((raw) => parseWorkload("Deployment", raw)),
            ...statefulSets.map((raw) => parseWorkload("StatefulSet", raw)),
        ];
    }

    async restart({ kind, namespace, name }: WorkloadObject, at: string): Promise<void> {
        const request: HttpRequest = {
            method: "PATCH",
            path: `${workloadsPath(kind, namespace)}/${encodeURIComponent(name)}`,
            contentType: "application/merge-patch+json",
            body: { spec: { template: { metadata: { annotations: { [RESTARTED_AT]: at } } } } },
        };
        await this.requests.change(request, []);
    }

    async plans(): Promise<readonly PlanObject[]> {
        return (await this.requests.list(PLANS)).map((raw) => ({
            name: raw.metadata?.name ?? "",
            state: text(statusOf(raw)["state"]) ?? "",
        }));
    }

    async dockerConfig(secretName: string): Promise<string | undefined> {
        const path = `/api/v1/namespaces/${MKE_NAMESPACE}/secrets/${encodeURIComponent(secretName)}`;
        const raw = (await this.requests.find(path)) as { readonly data?: Tree } | undefined;
        const content = text(raw?.data?.[".dockerconfigjson"]);
        return content === undefined ? undefined : Buffer.from(content, "base64").toString("utf8");
    }
}

function workloadsPath(kind: WorkloadObject["kind"], namespace: string): string {
    const plural = kind === "Deployment" ? "deployments" : "statefulsets";
    return `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

/** The status of an MkeConfig is not documented; of the usual fields those are taken that are there. */
function parseConfig(raw: RawObject): MkeConfigObject {
    const spec = specOf(raw);
    const status = statusOf(raw);
    const image = treeOf(treeOf(spec["registries"])["imageRegistry"]);
    const url = text(image["url"]);
    return {
        resourceVersion: raw.metadata?.resourceVersion ?? "",
        generation: generationOf(raw),
        version: text(spec["version"]),
        hosts: listIn(spec, "hosts"),
        imageRegistry:
            url === undefined
                ? undefined
                : { url, caData: text(image["caData"]), credentialsSecretName: text(image["credentialsSecretName"]) },
        cloudProvider: treeOf(spec["cloudProvider"])["enabled"] === true,
        observedGeneration: integer(status["observedGeneration"]),
        appliedVersion: text(status["version"]) ?? text(status["currentVersion"]) ?? text(status["appliedVersion"]),
        phase: text(status["phase"]) ?? text(status["state"]),
        conditions: conditionsOf(status),
    };
}

/** Ready by its condition, where there is one; else by `status.ready` or a phase of that name. */
function parseRelease(raw: RawObject): MkeReleaseObject {
    const status = statusOf(raw);
    const condition = conditionsOf(status).find(({ type }) => type === "Ready");
    const phase = text(status["phase"]) ?? text(status["state"]);
    const ready = condition === undefined ? status["ready"] === true || phase === "Ready" : condition.status === "True";
    const said = condition === undefined ? phase : [`Ready=${condition.status}`, condition.message].join(" ").trim();
    return {
        name: raw.metadata?.name ?? "",
        version: text(specOf(raw)["version"]),
        ready,
        state: said ?? (ready ? "ready" : "no status"),
    };
}

function parseWorkload(kind: WorkloadObject["kind"], raw: RawObject): WorkloadObject {
    const spec = specOf(raw);
    const status = statusOf(raw);
    const { namespace = "", name = "", labels = {} } = raw.metadata ?? {};
    return {
        ...{ kind, namespace, name, labels },
        paused: spec["paused"] === true,
        rolls: treeOf(spec["updateStrategy"])["type"] !== "OnDelete",
        generation: generationOf(raw),
        observedGeneration: integer(status["observedGeneration"]) ?? 0,
        wanted: integer(spec["replicas"]) ?? 1,
        replicas: integer(status["replicas"]) ?? 0,
        updated: integer(status["updatedReplicas"]) ?? 0,
        ready: integer(status["readyReplicas"]) ?? 0,
    };
}

function conditionsOf(status: Tree): ConditionObject[] {
    return (listIn(status, "conditions") ?? []).map(treeOf).map((condition) => ({
        type: text(condition["type"]) ?? "",
        status: text(condition["status"]) ?? "",
        message: text(condition["message"]) ?? "",
    }));
}

function generationOf({ metadata }: RawObject): number {
    return integer((metadata as (RawMeta & { readonly generation?: unknown }) | undefined)?.generation) ?? 0;
}

function specOf(raw: RawObject): Tree {
    return treeOf((raw as { readonly spec?: unknown }).spec);
}

function statusOf(raw: RawObject): Tree {
    return treeOf((raw as { readonly status?: unknown }).status);
}

function listIn(tree: Tree, name: string): readonly unknown[] | undefined {
    const list = tree[name];
    return Array.isArray(list) ? list : undefined;
}

/** "" counts as nothing. */
function text(value: unknown): string | undefined {
    return typeof value === "string" && value !== "" ? value : undefined;
}

function integer(value: unknown): number | undefined {
    return typeof value === "number" ? value : undefined;
}
