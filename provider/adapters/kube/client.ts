import type { Deadline } from "../../deadline";
import { defined } from "../../defined";
import type { ControlNodeObject, EtcdMemberObject, NodeObject, NodeTaint } from "../../facts/cluster";
import type { HostView } from "../host";
import { ApiError } from "../../errors";
import { type KubeCredentials, readKubeCredentials } from "./credentials";
import { apiError } from "./errors";
import { evictionIn } from "./eviction";
import type { Annotations, EtcdMemberPatch, Eviction, Kube, LeaseObject, NewLease, PodObject } from "./index";
import { MkeClient } from "./mke";
import { nodeConfigInForce, ownServer, type Server } from "./own-server";
import {
    microTime,
    parseControlNode,
    parseEtcdMember,
    parseLease,
    parseNode,
    parsePod,
    type RawLease,
    type RawObject,
} from "./parse";
import { type HttpRequest, type HttpResponse, KubeTransport } from "./transport";

const NODES = "/api/v1/nodes";
const ETCD_MEMBERS = "/apis/etcd.k0sproject.io/v1beta1/etcdmembers";
const CONTROL_NODES = "/apis/autopilot.k0sproject.io/v1beta2/controlnodes";
const KUBE_SYSTEM = "/api/v1/namespaces/kube-system";
const MKE_CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mkeconfigs.mke.mirantis.com";
const MERGE_PATCH = "application/merge-patch+json";

const OK = 200;
const NOT_FOUND = 404;
const CONFLICT = 409;
const INVALID = 422;
const LAST_SUCCESS = 299;

const DEFAULT_TIMEOUT = 10_000;

export interface KubeOptions {
    /** As seen from the host that the stream starts at. */
    readonly server: Server;
    /** Milliseconds for one call, dialling included; default 10 000. */
    readonly timeout?: number;
}

/**
 * Reads the controller's admin credentials and where its API server listens, and answers a client to that one. Nothing is
 * dialled yet.
 */
export async function connectKube(
    host: HostView,
    dataDir: string,
    deadline: Deadline,
    options: Partial<KubeOptions> = {},
): Promise<Kube> {
    const [credentials, nodeConfig] = await Promise.all([
        readKubeCredentials(host, dataDir, deadline),
        nodeConfigInForce(host, deadline),
    ]);
    return openKube(host, credentials, { server: ownServer(nodeConfig, credentials.server), ...options });
}

/** The same with credentials at hand: other controllers accept them as well, they have the same CA. */
export function openKube(via: HostView, credentials: KubeCredentials, options: KubeOptions): Kube {
    const { server, timeout = DEFAULT_TIMEOUT } = options;
    return new KubeClient(via.address, new KubeTransport(via, server, credentials, timeout));
}

class KubeClient implements Kube {
    readonly mke = new MkeClient({
        find: (path) => this.find(path),
        list: (path) => this.list(path),
        change: (request, answers) => this.change(request, answers),
    });

    constructor(
        private readonly address: string,
        private readonly transport: KubeTransport,
    ) {}

    async clusterId(): Promise<string> {
        return (await this.get(KUBE_SYSTEM)).metadata?.uid ?? "";
    }

    async clusterAnnotations(): Promise<Readonly<Record<string, string>>> {
        return (await this.get(KUBE_SYSTEM)).metadata?.annotations ?? {};
    }

    async annotateCluster(annotations: Annotations): Promise<void> {
        await this.patch(KUBE_SYSTEM, { metadata: { annotations } });
    }

    async isReady(path: "/readyz" | "/readyz/etcd"): Promise<boolean> {
        return (await this.transport.send({ method: "GET", path })).status === OK;
    }

    now(): number {
        const { now } = this.transport;
        if (now !== undefined) return now;
        const what = "it has named no time in its answers (`Date`), so that no age can be told";
        throw new ApiError({ stage: "asking the Kubernetes API", host: this.address, what });
    }

    async nodes(): Promise<readonly NodeObject[]> {
        return (await this.list(NODES)).map(parseNode);
    }

    async node(name: string): Promise<NodeObject | undefined> {
        const raw = await this.find(`${NODES}/${segment(name)}`);
        return raw && parseNode(raw);
    }

    async deleteNode(name: string, uid: string): Promise<void> {
        await this.deleteObject(`${NODES}/${segment(name)}`, { uid });
    }

    async setUnschedulable(name: string, unschedulable: boolean, annotations: Annotations): Promise<void> {
        const spec = { unschedulable: unschedulable || null };
        await this.patch(`${NODES}/${segment(name)}`, { metadata: { annotations }, spec });
    }

    async annotateNode(name: string, annotations: Annotations): Promise<void> {
        await this.patch(`${NODES}/${segment(name)}`, { metadata: { annotations } });
    }

    async labelNode(name: string, labels: Readonly<Record<string, string | null>>): Promise<void> {
        await this.patch(`${NODES}/${segment(name)}`, { metadata: { labels } });
    }

    async taintNode(name: string, taints: readonly NodeTaint[], resourceVersion: string): Promise<boolean> {
        const body = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
        const path = `${NODES}/${segment(name)}`;
        return (await this.change({ method: "PATCH", path, contentType: MERGE_PATCH, body }, [CONFLICT])) !== undefined;
    }

    async podsOn(nodeName: string): Promise<readonly PodObject[]> {
        const selector = encodeURIComponent(`spec.nodeName=${nodeName}`);
        return (await this.list(`/api/v1/pods?fieldSelector=${selector}`)).map(parsePod);
    }

    async evict(pod: PodObject, gracePeriodSeconds: number | undefined): Promise<Eviction> {
        const { namespace, name, uid } = pod;
        const path = `/api/v1/namespaces/${segment(namespace)}/pods/${segment(name)}`;
        // looked at first: with another pod's UID the API server tries for 10 s before it answers (1.36.3, observed)
        const found = await this.find(path);
        if (found?.metadata?.uid !== uid) return "gone";
        const request: HttpRequest = {
            method: "POST",
            path: `${path}/eviction`,
            body: {
                apiVersion: "policy/v1",
                kind: "Eviction",
                metadata: { namespace, name },
                deleteOptions: { gracePeriodSeconds, preconditions: { uid } },
            },
        };
        const response = await this.transport.send(request);
        const eviction = evictionIn(response);
        if (eviction === undefined) throw apiError(this.address, request, response);
        return eviction;
    }

    /** No object where the CRD is not installed (yet). */
    async etcdMembers(): Promise<readonly EtcdMemberObject[]> {
        return (await this.list(ETCD_MEMBERS)).map(parseEtcdMember);
    }

    /** Fails with code 409 when the object is another one by now; for custom resources the API server says 422. */
    async patchEtcdMember(name: string, uid: string, { leave, annotations }: EtcdMemberPatch): Promise<void> {
        const request: HttpRequest = {
            method: "PATCH",
            path: `${ETCD_MEMBERS}/${segment(name)}`,
            contentType: MERGE_PATCH,
            body: {
                metadata: { uid, ...(annotations && { annotations }) },
                ...(leave !== undefined && { spec: { leave } }),
            },
        };
        const response = await this.transport.send(request);
        const isAnother = response.status === INVALID && response.text.includes("metadata.uid");
        this.requireSuccess(request, isAnother ? { ...response, status: CONFLICT } : response);
    }

    async deleteEtcdMember(name: string, uid: string): Promise<void> {
        await this.deleteObject(`${ETCD_MEMBERS}/${segment(name)}`, { uid });
    }

    async controlNodes(): Promise<readonly ControlNodeObject[]> {
        return (await this.list(CONTROL_NODES)).map(parseControlNode);
    }

    async deleteControlNode(name: string, uid: string): Promise<void> {
        await this.deleteObject(`${CONTROL_NODES}/${segment(name)}`, { uid });
    }

    async hasMke(): Promise<boolean> {
        return (await this.find(MKE_CRD)) !== undefined;
    }

    async lease(namespace: string, name: string): Promise<LeaseObject | undefined> {
        const raw = await this.find(leasePath(namespace, name));
        return raw && parseLease(raw);
    }

    async leases(namespace: string, labelSelector?: string): Promise<readonly LeaseObject[]> {
        const query = labelSelector === undefined ? "" : `?labelSelector=${encodeURIComponent(labelSelector)}`;
        return (await this.list(`${leasesPath(namespace)}${query}`)).map(parseLease);
    }

    async createLease(lease: NewLease): Promise<LeaseObject | undefined> {
        const now = microTime(new Date());
        const raw = await this.change(
            { method: "POST", path: leasesPath(lease.namespace), body: rawLease(lease, now, now) },
            [CONFLICT],
        );
        return raw && parseLease(raw);
    }

    async replaceLease(lease: LeaseObject): Promise<LeaseObject | undefined> {
        const path = leasePath(lease.namespace, lease.name);
        const body = rawLease(lease, lease.acquireTime, microTime(new Date()));
        const raw = await this.change({ method: "PUT", path, body }, [CONFLICT, NOT_FOUND]);
        return raw && parseLease(raw);
    }

    async deleteLease(namespace: string, name: string, resourceVersion?: string): Promise<boolean> {
        return this.deleteObject(leasePath(namespace, name), defined({ resourceVersion }));
    }

    close(): void {
        this.transport.close();
    }

    private async get(path: string): Promise<RawObject> {
        return this.read({ method: "GET", path });
    }

    private async find(path: string): Promise<RawObject | undefined> {
        return this.change({ method: "GET", path }, [NOT_FOUND]);
    }

    private async list(path: string): Promise<readonly RawObject[]> {
        const list = (await this.find(path)) as { items?: readonly RawObject[] } | undefined;
        return list?.items ?? [];
    }

    private async patch(path: string, body: unknown): Promise<void> {
        await this.read({ method: "PATCH", path, contentType: MERGE_PATCH, body });
    }

    /** Missing is fine and true; false when the preconditions do not hold. */
    private async deleteObject(path: string, preconditions: object): Promise<boolean> {
        const request: HttpRequest = {
            method: "DELETE",
            path,
            body: { kind: "DeleteOptions", apiVersion: "v1", preconditions },
        };
        const response = await this.transport.send(request);
        if (response.status === CONFLICT) return false;
        if (response.status !== NOT_FOUND) this.requireSuccess(request, response);
        return true;
    }

    /** The object in the answer; undefined for the statuses that are an answer too. */
    private async change(request: HttpRequest, answers: readonly number[]): Promise<RawObject | undefined> {
        const response = await this.transport.send(request);
        return answers.includes(response.status) ? undefined : this.parsed(request, response);
    }

    private async read(request: HttpRequest): Promise<RawObject> {
        return this.parsed(request, await this.transport.send(request));
    }

    private parsed(request: HttpRequest, response: HttpResponse): RawObject {
        this.requireSuccess(request, response);
        return JSON.parse(response.text) as RawObject;
    }

    private requireSuccess(request: HttpRequest, response: HttpResponse): void {
        if (response.status < OK || response.status > LAST_SUCCESS) throw apiError(this.address, request, response);
    }
}

function rawLease(lease: NewLease & Partial<LeaseObject>, acquireTime: string, renewTime: string): RawLease {
    const { namespace, name, resourceVersion, uid, labels, annotations, holder, durationSeconds } = lease;
    return {
        ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
        metadata: {
            ...{ namespace, name, labels, annotations },
            ...(resourceVersion !== undefined && { resourceVersion }),
            ...(uid !== undefined && { uid }),
        },
        spec: {
            holderIdentity: holder,
            leaseDurationSeconds: durationSeconds,
            acquireTime,
            renewTime,
        },
    };
}

function leasesPath(namespace: string): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${segment(namespace)}/leases`;
}

function leasePath(namespace: string, name: string): string {
    return `${leasesPath(namespace)}/${segment(name)}`;
}

function segment(name: string): string {
    return encodeURIComponent(name);
}
