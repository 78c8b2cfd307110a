import { TIMING } from "../timing";
import type { SimTimer } from "../model/clock";
import { EtcdError } from "../model/etcd";
import { type KubeObject, RESOURCES } from "../model/store";
import { memberOf, type SimCluster } from "./cluster";
import type { ControllerDaemon } from "./controller";
import { joinedCondition, LABELS } from "./objects";

/** Between an EtcdMember's change and the leader's look at it. */
const REACTION = 0.05;

/** What the k0s leader does with EtcdMembers (era C, k0s-interfaces.md 3.4), and who it is. */
export class K0sLeader {
    holder: ControllerDaemon | undefined;
    /** Its process hangs: it holds on to its leadership and looks at nothing. */
    hangs = false;
    private readonly yielding = new Map<ControllerDaemon, number>();
    private next: SimTimer | undefined;
    private takeOver: SimTimer | undefined;

    constructor(private readonly cluster: SimCluster) {}

    candidateReady(): void {
        if (this.holder === undefined && this.takeOver === undefined) this.elect();
    }

    holderEnded(daemon: ControllerDaemon, released: boolean): void {
        if (this.holder === daemon) this.release(released ? TIMING.leaderReleased : TIMING.leaderCrashed);
    }

    etcdMemberChanged(): void {
        if (this.holder !== undefined) this.lookAfter(REACTION);
    }

    private release(pause: number): void {
        this.holder = undefined;
        this.next?.cancel();
        this.takeOver?.cancel();
        this.takeOver = this.cluster.world.clock.after(pause, () => this.elect());
    }

    private elect(): void {
        const { clock, events } = this.cluster.world;
        this.takeOver = undefined;
        const candidates = [...this.cluster.daemons].filter(
            (daemon) => daemon.canLead && (this.yielding.get(daemon) ?? 0) <= clock.now,
        );
        this.holder = candidates[0];
        if (this.holder === undefined) {
            if (this.cluster.daemons.size > 0) this.release(TIMING.leaderReleased);
            return;
        }
        events.add("leader", `k0s leader is ${this.holder.config.nodeName}`);
        this.lookAfter(REACTION);
    }

    private lookAfter(pause: number): void {
        this.next?.cancel();
        this.next = this.cluster.world.clock.after(pause, () => this.look());
    }

    private look(): void {
        const { holder, cluster } = this;
        this.lookAfter(TIMING.resync);
        if (this.hangs) return;
        const own = holder?.member;
        if (holder === undefined || own === undefined || !cluster.etcd.hasQuorum(own.id)) return;
        for (const object of cluster.store.list(RESOURCES.etcdMembers)) {
            if (this.holder === holder) this.reconcile(object, holder);
        }
        if (this.holder === holder) this.promoteOne();
    }

    private promoteOne(): void {
        const ready = this.cluster.etcd.members.find(({ id, learner }) => learner && this.cluster.etcd.isAlive(id));
        if (ready !== undefined && ready.name !== "") this.cluster.etcd.promote(ready.id);
    }

    private reconcile(object: KubeObject, holder: ControllerDaemon): void {
        if (object.status?.["memberID"] === undefined) return;
        const member = memberOf(this.cluster, object);
        if (member === undefined) return this.joined(object, false, "No such member ID");
        if (object.spec?.["leave"] !== true) return;
        if (object.status["peerAddress"] === holder.config.peerAddress) return this.yieldOwn(object, holder);
        if (this.mayRemove(object)) this.remove(object, member.id);
    }

    /** Its own leave is another controller's business. */
    private yieldOwn(object: KubeObject, holder: ControllerDaemon): void {
        if (this.cluster.validLeases.length < 2) {
            this.message(
                object,
                "The only active controller cannot leave the etcd cluster; either bring another controller online or clear spec.leave",
            );
            return;
        }
        this.message(object, "Waiting for another controller to take over");
        this.yielding.set(holder, this.cluster.world.clock.now + TIMING.yieldLeadership);
        this.release(TIMING.leaderReleased);
    }

    /** First the target is asked to leave by itself; only where it is long dead the leader removes it. */
    private mayRemove(object: KubeObject): boolean {
        const labels = object.metadata.labels ?? {};
        const asked = labels[LABELS.shutdownOnLeave];
        if (asked === undefined) return true;
        const lease = this.cluster.lease(labels[LABELS.lease] ?? `k0s-ctrl-${object.metadata.name}`);
        if (lease === undefined) return this.message(object, "No k0s controller lease found");
        if (this.cluster.isValid(lease)) {
            if (lease.holder.invocationId !== asked) return this.message(object, "Unexpected lease holder");
            if (labels[LABELS.shutdown] === asked) {
                return this.message(object, "Member is still active; waiting for it to shutdown");
            }
            this.cluster.store.update(RESOURCES.etcdMembers, object.metadata.name, ({ metadata }) => {
                metadata.labels = { ...metadata.labels, [LABELS.shutdown]: asked };
            });
            return false;
        }
        if (this.cluster.world.clock.now - this.cluster.renewedAt(lease) >= TIMING.deadMember) return true;
        return this.message(object, "Member is offline; waiting for it to leave");
    }

    private remove(object: KubeObject, id: bigint): void {
        try {
            this.cluster.etcd.remove(id);
            this.joined(object, false, "Member removed from cluster");
        } catch (error) {
            if (!(error instanceof EtcdError)) throw error;
            this.message(object, `Failed to delete member from cluster: ${error.message}`);
        }
    }

    private joined({ metadata }: KubeObject, joined: boolean, message: string): void {
        const object = this.cluster.store.get(RESOURCES.etcdMembers, metadata.name);
        const [condition] = (object?.status?.["conditions"] ?? []) as Record<string, string>[];
        if (condition?.["status"] === (joined ? "True" : "False")) return;
        this.cluster.store.update(RESOURCES.etcdMembers, metadata.name, (changed) => {
            const conditions = [joinedCondition(joined, message, this.cluster.now())];
            changed.status = { ...changed.status, conditions, reconcileStatus: "Success", message };
        });
    }

    private message({ metadata, status }: KubeObject, message: string): false {
        if (status?.["message"] !== message) {
            this.cluster.store.update(RESOURCES.etcdMembers, metadata.name, (changed) => {
                changed.status = { ...changed.status, message };
            });
        }
        return false;
    }
}
