import type { SimCluster } from "../k0s/cluster";
import { apiVersionOf, type KubeObject, RESOURCES } from "../model/store";
import { type ApiRequest, type ApiResponse, type ApiTarget, matches, StatusError } from "./api-request";
import { applyPatch } from "./patch";

interface Preconditions {
    readonly uid?: string;
    readonly resourceVersion?: string;
}

/** Reads and writes objects as kube-apiserver does. Throws StatusError. */
export function serveObjects(cluster: SimCluster, target: ApiTarget, request: ApiRequest): ApiResponse {
    const { resource, namespace, name, subresource } = target;
    if (name === undefined) {
        if (request.method === "GET") return list(cluster, target, request);
        if (request.method === "POST") return create(cluster, target, request.body as KubeObject);
        throw notAllowed(request);
    }
    if (request.method !== "GET") cluster.interloper?.(resource);
    const object = cluster.store.get(resource, name, namespace);
    if (object === undefined) throw notFound(target);
    if (subresource === "eviction" && request.method === "POST") return evict(cluster, object, request);
    switch (request.method) {
        case "GET":
            return { status: 200, content: object };
        case "PUT":
            return write(cluster, target, object, request.body as KubeObject);
        case "PATCH":
            return write(cluster, target, object, patched(object, request));
        case "DELETE":
            return remove(cluster, target, object, request.body as { preconditions?: Preconditions } | undefined);
        default:
            throw notAllowed(request);
    }
}

function list(cluster: SimCluster, { resource, namespace }: ApiTarget, { query }: ApiRequest): ApiResponse {
    const items = cluster.store.list(resource, namespace).filter((object) => matches(object, query));
    const content = {
        apiVersion: apiVersionOf(resource),
        kind: `${resource.kind}List`,
        metadata: { resourceVersion: String(cluster.store.currentRevision) },
        items,
    };
    return { status: 200, content };
}

function create(cluster: SimCluster, { resource, namespace }: ApiTarget, object: KubeObject): ApiResponse {
    const { uid: _, ...given } = object.metadata;
    const { name } = given;
    if (cluster.store.get(resource, name, namespace) !== undefined) {
        throw new StatusError(409, "AlreadyExists", `${resource.plural} "${name}" already exists`);
    }
    const metadata = { ...given, ...(namespace !== undefined && { namespace }) };
    return { status: 201, content: cluster.store.create(resource, { ...object, metadata }) };
}

function write(cluster: SimCluster, target: ApiTarget, before: KubeObject, after: KubeObject): ApiResponse {
    const { resource, name = "", subresource } = target;
    const { uid, resourceVersion } = after.metadata;
    if (uid !== undefined && uid !== before.metadata.uid) {
        const what = `${resource.plural} "${name}"`;
        if (resource.custom !== true) throw conflict(target, `Precondition failed: UID in object meta: ${uid}`);
        throw new StatusError(
            422,
            "Invalid",
            `${what} is invalid: metadata.uid: Invalid value: "${uid}": field is immutable`,
        );
    }
    if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) {
        throw conflict(
            target,
            "the object has been modified; please apply your changes to the latest version and try again",
        );
    }
    const content =
        subresource === "status"
            ? { ...structuredClone(before), status: after.status ?? {} }
            : { ...after, ...(hasStatusSubresource(target) && before.status && { status: before.status }) };
    cluster.admission?.(resource, before, content);
    return { status: 200, content: cluster.store.replace(resource, before, content) };
}

/** The patch has a resourceVersion only where the client gave one. */
function patched(object: KubeObject, { contentType, body }: ApiRequest): KubeObject {
    try {
        const result = applyPatch(contentType, object, body) as KubeObject;
        return result;
    } catch (error) {
        throw new StatusError(422, "Invalid", (error as Error).message);
    }
}

function remove(
    cluster: SimCluster,
    target: ApiTarget,
    object: KubeObject,
    options: { readonly preconditions?: Preconditions } | undefined,
): ApiResponse {
    const { uid, resourceVersion } = options?.preconditions ?? {};
    if (uid !== undefined && uid !== object.metadata.uid) {
        throw conflict(
            target,
            `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid}`,
        );
    }
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
        throw conflict(target, `Precondition failed: ResourceVersion in precondition: ${resourceVersion}`);
    }
    cluster.store.delete(target.resource, object.metadata.name, object.metadata.namespace);
    return { status: 200, content: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" } };
}

/** A pod that a disruption budget holds answers 429; others end after their grace period, while their kubelet lives. */
function evict(cluster: SimCluster, pod: KubeObject, { body }: ApiRequest): ApiResponse {
    const { deleteOptions } = body as {
        deleteOptions?: { gracePeriodSeconds?: number; preconditions?: Preconditions };
    };
    const { uid } = deleteOptions?.preconditions ?? {};
    const { name, namespace } = pod.metadata;
    if (uid !== undefined && uid !== pod.metadata.uid)
        throw new StatusError(409, "Conflict", `pod ${name} is another one`);
    if (pod.metadata.annotations?.[BUDGET_ANNOTATION] !== undefined) {
        const message = "Cannot evict pod as it would violate the pod's disruption budget.";
        const budget = `The disruption budget ${name} needs 1 healthy pods and has 1 currently`;
        throw new StatusError(429, "TooManyRequests", message, {
            causes: [{ reason: "DisruptionBudget", message: budget }],
        });
    }
    const webhook = pod.metadata.annotations?.[WEBHOOK_ANNOTATION];
    if (webhook !== undefined) {
        const message = `Internal error occurred: failed calling webhook "${webhook}": connect: connection refused`;
        throw new StatusError(500, "InternalError", message);
    }
    const ends = Number(pod.spec?.["terminationGracePeriodSeconds"] ?? 0);
    const grace = deleteOptions?.gracePeriodSeconds ?? ends;
    cluster.store.update(
        RESOURCES.pods,
        name,
        ({ metadata }) => (metadata.deletionTimestamp = cluster.now()),
        namespace,
    );
    cluster.world.clock.after(Math.min(grace, ends), () => {
        const now = cluster.store.get(RESOURCES.pods, name, namespace);
        // only its kubelet can say that it has ended
        if (cluster.kubelets.get(String(pod.spec?.["nodeName"]))?.running !== true) return;
        if ((now?.metadata.finalizers ?? []).length === 0) cluster.store.delete(RESOURCES.pods, name, namespace);
    });
    return { status: 201, content: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" } };
}

/** On a simulated pod: this admission webhook is to be asked about its eviction, and does not answer. */
export const WEBHOOK_ANNOTATION = "simulation/failing-webhook";

/** On a simulated pod: its disruption budget never lets it go. */
export const BUDGET_ANNOTATION = "simulation/disruption-budget";

function hasStatusSubresource({ resource }: ApiTarget): boolean {
    return resource === RESOURCES.nodes || resource === RESOURCES.pods || resource.custom === true;
}

function notFound({ resource, name }: ApiTarget): StatusError {
    const group = resource.group === "" ? "" : `.${resource.group}`;
    return new StatusError(404, "NotFound", `${resource.plural}${group} "${name}" not found`);
}

function conflict({ resource, name }: ApiTarget, why: string): StatusError {
    return new StatusError(409, "Conflict", `Operation cannot be fulfilled on ${resource.plural} "${name}": ${why}`);
}

function notAllowed({ method }: ApiRequest): StatusError {
    return new StatusError(405, "MethodNotAllowed", `the server does not allow ${method} here`);
}
