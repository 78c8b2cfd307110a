import { TIMING } from "../timing";
import type { SimTimer } from "../model/clock";
import type { SimHost } from "../model/host";
import { RESOURCES } from "../model/store";
import type { SimCluster } from "./cluster";
import type { NodeConfig } from "./node-config";
import { newNode, nodeStatus, type NodeTraits, readyCondition } from "./objects";

/** Where kubelets have their Leases, each named as its Node. */
export const NODE_LEASES = "kube-node-lease";

/** Without an API that answers, it asks again. */
const RETRY = 1;

/** The kubelet of one host: its Node, Ready while it lives. It registers only once; a deleted Node stays away. */
export class Kubelet {
    private alive = false;
    /** Simulated seconds of its last start and of its end. */
    private since = 0;
    private ended = 0;
    private readonly timers = new Set<SimTimer>();
    private readonly traits: NodeTraits;

    constructor(
        private readonly host: SimHost,
        private readonly cluster: SimCluster,
        config: NodeConfig,
        controller: boolean,
    ) {
        this.traits = {
            name: config.nodeName,
            address: config.nodeAddress,
            kubeletVersion: config.version.replace(/\+.*$/, ""),
            controlPlane: controller,
            taint: controller && !config.noTaints,
            labels: config.labels,
            taints: config.taints,
        };
    }

    get running(): boolean {
        return this.alive;
    }

    /** Simulated second in which it last renewed its Lease. */
    get renewedAt(): number {
        const until = this.alive ? this.host.world.clock.now : this.ended;
        return this.since + Math.floor((until - this.since) / TIMING.kubeletRenews) * TIMING.kubeletRenews;
    }

    /** `readyAfter`: seconds until its Node is Ready. */
    start(readyAfter: number): void {
        this.alive = true;
        if (!this.cluster.etcd.works) return this.later(RETRY, () => this.start(readyAfter));
        if (!this.mayRegister()) return;
        const fresh = this.register();
        this.later(readyAfter, () => this.setReady(true));
        if (fresh && this.host.world.wobble) this.later(this.within(TIMING.wobbleAfter), () => this.wobble());
    }

    /** Registered and Ready for a long time. */
    settle(): void {
        this.alive = true;
        this.host.kubeletName = this.traits.name;
        this.register();
        this.setReady(true);
    }

    stop(): void {
        if (!this.alive) return;
        this.alive = false;
        this.ended = this.host.world.clock.now;
        for (const timer of this.timers) timer.cancel();
        this.timers.clear();
        this.noticeDeath(this.within(TIMING.nodeNotReady));
    }

    /** The node lifecycle controller notices it, later still where etcd writes nothing. */
    private noticeDeath(after: number): void {
        this.host.world.clock.after(after, () => {
            // of two machines with one name, the last one counts
            if (this.cluster.kubelets.get(this.traits.name)?.running === true) return;
            if (this.cluster.etcd.works) this.setReady("unknown");
            else this.noticeDeath(TIMING.resync);
        });
    }

    private wobble(): void {
        this.setReady("unknown");
        this.later(this.within(TIMING.wobbleFor), () => this.setReady(true));
    }

    /** A machine that was renamed: its certificate is for another Node, and no Node comes (node authorizer). */
    private mayRegister(): boolean {
        this.host.kubeletName ??= this.traits.name;
        return this.host.kubeletName === this.traits.name;
    }

    /** True where the Node is a fresh one. */
    private register(): boolean {
        const { store } = this.cluster;
        const { name } = this.traits;
        const before = store.get(RESOURCES.nodes, name);
        const wasReady = before !== undefined && isReady(before.status);
        if (before === undefined) {
            store.create(RESOURCES.nodes, newNode(this.host, this.traits, store.list(RESOURCES.nodes).length));
        }
        const ready = wasReady ? true : before === undefined ? false : ("unknown" as const);
        store.update(RESOURCES.nodes, name, (node) => {
            const conditions = [readyCondition(ready, this.cluster.now())];
            node.status = { ...nodeStatus(this.host, this.traits), conditions };
        });
        if (before === undefined) this.host.world.events.add("node", `${name} NotReady`);
        this.holdLease();
        return before === undefined;
    }

    /** It goes with its Node, which owns it, and comes with it only: the kubelet makes none without. */
    private holdLease(): void {
        const { store, kubelets } = this.cluster;
        const { name } = this.traits;
        this.since = this.host.world.clock.now;
        kubelets.set(name, this);
        if (store.get(RESOURCES.leases, name, NODE_LEASES) !== undefined) return;
        const spec = { holderIdentity: name, leaseDurationSeconds: TIMING.kubeletLease };
        store.create(RESOURCES.leases, { metadata: { name, namespace: NODE_LEASES }, spec });
    }

    private setReady(ready: boolean | "unknown"): void {
        const { name } = this.traits;
        const node = this.cluster.store.get(RESOURCES.nodes, name);
        if (node === undefined || isReady(node.status) === (ready === true)) return;
        this.cluster.store.update(RESOURCES.nodes, name, (changed) => {
            changed.status = { ...changed.status, conditions: [readyCondition(ready, this.cluster.now())] };
        });
        this.host.world.events.add("node", `${name} ${ready === true ? "Ready" : "NotReady"}`);
    }

    private later(seconds: number, action: () => void): void {
        const timer = this.host.world.clock.after(seconds, () => {
            this.timers.delete(timer);
            action();
        });
        this.timers.add(timer);
    }

    private within(range: readonly [number, number]): number {
        return this.host.world.random.within(range);
    }
}

export function isReady(status: Record<string, unknown> | undefined): boolean {
    const conditions = (status?.["conditions"] ?? []) as Record<string, string>[];
    return conditions.find(({ type }) => type === "Ready")?.["status"] === "True";
}
