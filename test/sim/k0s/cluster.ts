import { randomUUID } from "node:crypto";
import { fixture } from "../../support/fixtures";
import { TIMING } from "../timing";
import { EtcdCluster, type EtcdMember } from "../model/etcd";
import type { SimHost } from "../model/host";
import type { ClusterPki } from "../model/pki";
import { type KubeObject, ObjectStore, type Resource, RESOURCES, type StoreChange } from "../model/store";
import type { World } from "../model/world";
import type { ControllerDaemon } from "./controller";
import type { Kubelet } from "./kubelet";
import { K0sLeader } from "./leader";
import { LABELS } from "./objects";
import { encodeToken, type JoinToken, type TokenRole } from "./token";

const CRDS = ["crd-etcdmembers.json", "crd-controlnodes.json"];

/** A controller's Lease `k0s-ctrl-<node>`: alive while its daemon is, readable for some time after. */
export interface ControllerLease {
    readonly name: string;
    readonly holder: ControllerDaemon;
    readonly since: number;
    /** When the holder ended, and whether it gave the lease back. */
    ended?: { readonly at: number; readonly released: boolean };
}

/** One cluster: etcd, the objects in it, the k0s leader's work, and the controllers that run. */
export class SimCluster {
    /** UID of the `kube-system` namespace; never the same, also with the same seed: clients remember clusters by it. */
    readonly id = randomUUID();
    readonly etcd: EtcdCluster;
    readonly store: ObjectStore;
    readonly leader: K0sLeader;
    readonly daemons = new Set<ControllerDaemon>();
    /** Who serves a Node, by its name. */
    readonly kubelets = new Map<string, Kubelet>();
    /** Called for every write that comes through the API, before it counts; throws what the API answers. */
    admission: ((resource: Resource, before: KubeObject, after: KubeObject) => void) | undefined;
    /** Called before such a write looks at the object: somebody else may be faster. */
    interloper: ((resource: Resource) => void) | undefined;
    /** Operators beside k0s's own, told of every change of an object. */
    readonly watchers: ((resource: Resource, object: KubeObject, change: StoreChange) => void)[] = [];
    /** Controller leases by their name. */
    private readonly leases = new Map<string, ControllerLease>();

    constructor(
        readonly world: World,
        readonly pki: ClusterPki,
    ) {
        const { clock, random, events } = world;
        this.etcd = new EtcdCluster(clock, random, events, () => this.membersChanged());
        this.store = new ObjectStore(
            random,
            () => this.now(),
            (resource, object, change) => this.objectChanged(resource, object, change),
        );
        this.leader = new K0sLeader(this);
        for (const name of ["default", "kube-system", "kube-node-lease", "k0s-autopilot"]) {
            this.store.create(RESOURCES.namespaces, {
                metadata: { name, ...(name === "kube-system" && { uid: this.id }) },
                status: { phase: "Active" },
            });
        }
        for (const crd of CRDS) this.store.create(RESOURCES.crds, fixture(crd) as KubeObject);
        world.clusters.push(this);
    }

    /** RFC 3339 in whole seconds, as objects carry it. */
    now(): string {
        return new Date(this.world.clock.wallOf(this.world.clock.now)).toISOString().replace(/\.\d+Z$/, "Z");
    }

    daemonOf(memberId: bigint): ControllerDaemon | undefined {
        return [...this.daemons].find((daemon) => daemon.member?.id === memberId);
    }

    daemonAt(host: SimHost): ControllerDaemon | undefined {
        return [...this.daemons].find((daemon) => daemon.host === host);
    }

    /** A new join token; its Secret is what makes it valid. */
    createToken(role: TokenRole, server: { host: string; port: number }, expirySeconds: number): string {
        const { random, clock } = this.world;
        const token: JoinToken = { role, ...server, ca: this.pki.ca, id: random.word(6), secret: random.word(16) };
        const expiration = new Date(clock.wallOf(clock.now + expirySeconds)).toISOString();
        this.store.create(RESOURCES.secrets, {
            metadata: { name: `bootstrap-token-${token.id}`, namespace: "kube-system" },
            type: "bootstrap.kubernetes.io/token",
            data: { "token-secret": token.secret, role, ...(expirySeconds > 0 && { expiration }) },
        });
        return encodeToken(token);
    }

    invalidateToken(id: string): void {
        this.store.delete(RESOURCES.secrets, `bootstrap-token-${id}`, "kube-system");
    }

    accepts({ id, secret, role }: JoinToken): boolean {
        const data = this.store.get(RESOURCES.secrets, `bootstrap-token-${id}`, "kube-system")?.["data"] as
            Record<string, string> | undefined;
        const { clock } = this.world;
        const expired = data?.["expiration"] !== undefined && Date.parse(data["expiration"]) < clock.wallOf(clock.now);
        return data?.["token-secret"] === secret && data["role"] === role && !expired;
    }

    takeLease(holder: ControllerDaemon): void {
        const name = `k0s-ctrl-${holder.config.nodeName}`;
        this.leases.set(name, { name, holder, since: this.world.clock.now });
        const spec = { holderIdentity: holder.invocationId, leaseDurationSeconds: TIMING.leaseValid };
        const before = this.store.get(RESOURCES.leases, name, "kube-node-lease");
        if (before === undefined) {
            this.store.create(RESOURCES.leases, { metadata: { name, namespace: "kube-node-lease" }, spec });
        } else {
            this.store.replace(RESOURCES.leases, before, { ...before, spec });
        }
        this.leader.candidateReady();
    }

    endLease(holder: ControllerDaemon, released: boolean): void {
        for (const lease of this.leases.values()) {
            if (lease.holder !== holder || lease.ended !== undefined) continue;
            lease.ended = { at: this.world.clock.now, released };
        }
        this.leader.holderEnded(holder, released);
    }

    /** undefined: nobody ever held it, or its object was deleted. */
    lease(name: string): ControllerLease | undefined {
        return this.store.get(RESOURCES.leases, name, "kube-node-lease") && this.leases.get(name);
    }

    /** Simulated second of the last renewal. */
    renewedAt({ since, ended }: ControllerLease): number {
        const until = ended?.at ?? this.world.clock.now;
        return since + Math.floor((until - since) / TIMING.leaseRenew) * TIMING.leaseRenew;
    }

    isValid(lease: ControllerLease): boolean {
        if (lease.ended?.released === true) return false;
        return this.renewedAt(lease) + TIMING.leaseValid > this.world.clock.now;
    }

    get validLeases(): readonly ControllerLease[] {
        return [...this.leases.values()].filter((lease) => this.isValid(lease));
    }

    private membersChanged(): void {
        for (const daemon of [...this.daemons]) daemon.membersChanged();
    }

    private objectChanged(resource: Resource, object: KubeObject, change: StoreChange): void {
        for (const watcher of this.watchers) watcher(resource, object, change);
        const { events } = this.world;
        const { name } = object.metadata;
        if (resource === RESOURCES.etcdMembers) {
            events.add("object", change === "deleted" ? `EtcdMember ${name} deleted` : describeEtcdMember(object));
            const asked = object.metadata.labels?.[LABELS.shutdown];
            for (const daemon of [...this.daemons]) {
                if (daemon.invocationId === asked && change !== "deleted") daemon.shutdownAsked(object);
            }
            this.leader.etcdMemberChanged();
        } else if (resource === RESOURCES.controlNodes) {
            events.add("object", `ControlNode ${name} ${change}`);
        } else if (resource === RESOURCES.nodes && change === "deleted") {
            events.add("node", `${name} deleted`);
            this.store.delete(RESOURCES.leases, name, "kube-node-lease");
            for (const pod of this.store.list(RESOURCES.pods)) {
                const { metadata, spec } = pod;
                if (spec?.["nodeName"] === name) this.store.delete(RESOURCES.pods, metadata.name, metadata.namespace);
            }
        }
    }
}

/** As the recordings have it: `c3 leave=true id=… peer=… Joined=False(No such member ID)`. */
export function describeEtcdMember({ metadata, spec, status }: KubeObject): string {
    const [condition] = (status?.["conditions"] ?? []) as Record<string, string>[];
    const leave = spec?.["leave"] === true ? "true" : "";
    const joined = condition === undefined ? "" : `Joined=${condition["status"]}(${condition["message"]})`;
    return `${metadata.name} leave=${leave} id=${idOf(status)} peer=${textOf(status?.["peerAddress"])} ${joined}`;
}

export function memberOf({ etcd }: SimCluster, { status }: KubeObject): EtcdMember | undefined {
    const id = idOf(status);
    return id === "" ? undefined : etcd.member(BigInt(`0x${id}`));
}

function idOf(status: KubeObject["status"]): string {
    return textOf(status?.["memberID"]);
}

function textOf(value: unknown): string {
    return typeof value === "string" ? value : "";
}
