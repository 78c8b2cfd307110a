import type { SimCluster } from "../k0s/cluster";
import { type KubeObject, type Resource, RESOURCES } from "../model/store";

export interface ApiRequest {
    readonly method: string;
    readonly path: string;
    readonly query: URLSearchParams;
    readonly contentType: string;
    readonly body: unknown;
}

export interface ApiResponse {
    readonly status: number;
    /** JSON, or plain text. */
    readonly content: object | string;
}

/** What a request is about. */
export interface ApiTarget {
    readonly resource: Resource;
    readonly namespace: string | undefined;
    readonly name: string | undefined;
    readonly subresource: string | undefined;
}

/** An answer that is a `Status` object. */
export class StatusError extends Error {
    constructor(
        readonly status: number,
        readonly reason: string,
        message: string,
        /** Of the `Status` object. */
        private readonly details?: object,
    ) {
        super(message);
    }

    get response(): ApiResponse {
        const { status: code, reason, message } = this;
        const details = this.details === undefined ? {} : { details: this.details };
        const kind = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" };
        const content = { ...kind, message, reason, ...details, code };
        return { status: code, content };
    }
}

/** undefined: the API has no such kind (of this cluster's CRDs). */
export function parseTarget(cluster: SimCluster, path: string): ApiTarget | undefined {
    const parts = /^\/(?:api\/(v1)|apis\/([^/]+)\/([^/]+))\/(.+)$/.exec(path);
    if (parts === null) return undefined;
    const [, core, group = "", version = core ?? "", rest = ""] = parts;
    const segments = rest.split("/").map(decodeURIComponent);
    const namespaced = segments[0] === "namespaces" && segments.length > 2;
    const [plural = "", name, subresource] = namespaced ? segments.slice(2) : segments;
    const resource = resourceOf(cluster, group, version, plural);
    return resource && { resource, namespace: namespaced ? segments[1] : undefined, name, subresource };
}

function resourceOf(cluster: SimCluster, group: string, version: string, plural: string): Resource | undefined {
    const isIt = (one: Resource): boolean => one.group === group && one.version === version && one.plural === plural;
    const known = Object.values(RESOURCES).find(isIt);
    if (known !== undefined && !("custom" in known)) return known;
    const definition = cluster.store.get(RESOURCES.crds, `${plural}.${group}`);
    return definition && (known ?? customResource(definition, group, version, plural));
}

function customResource({ spec }: KubeObject, group: string, version: string, plural: string): Resource {
    const { kind = "" } = (spec?.["names"] ?? {}) as { kind?: string };
    return { group, version, plural, kind, namespaced: spec?.["scope"] === "Namespaced", custom: true };
}

/** `a=b,c=d` over labels, or over `metadata.name` and the like. */
export function matches(object: KubeObject, query: URLSearchParams): boolean {
    const labels = pairs(query.get("labelSelector")).every(([key, value]) => object.metadata.labels?.[key] === value);
    return labels && pairs(query.get("fieldSelector")).every(([key, value]) => fieldOf(object, key) === value);
}

function pairs(text: string | null): [string, string][] {
    const parts = (text ?? "").split(",").filter((part) => part !== "");
    return parts.map((part) => part.split(/==?/) as [string, string]);
}

function fieldOf(object: unknown, path: string): unknown {
    return path.split(".").reduce((at, step) => (at as Record<string, unknown> | undefined)?.[step], object);
}
