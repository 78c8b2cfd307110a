import { TIMING } from "../timing";
import { httpsUrl } from "./address";
import type { SimClock, SimTimer } from "./clock";
import type { EventLog } from "./events";
import type { Random } from "./random";

export interface EtcdMember {
    readonly id: bigint;
    /** "" until it started for the first time. */
    name: string;
    readonly peerAddress: string;
    learner: boolean;
}

/** The running etcd of one host. */
export interface EtcdProcess {
    /** Its machine runs and the process is not hung. */
    readonly alive: boolean;
    reaches(other: EtcdProcess): boolean;
}

/** gRPC status codes that etcd uses. */
export const GRPC = { deadlineExceeded: 4, notFound: 5, failedPrecondition: 9, unavailable: 14 } as const;

/** An answer of etcd that is an error, as gRPC clients see it. */
export class EtcdError extends Error {
    constructor(
        readonly code: number,
        message: string,
    ) {
        super(`etcdserver: ${message}`);
    }
}

/** Membership, quorum and leadership of one etcd cluster (etcd 3.6, strict-reconfig-check, one learner at a time). */
export class EtcdCluster {
    /** Another one after a restore. */
    id: bigint;
    term = 2;
    leaderId: bigint | undefined;
    readonly alarms: { readonly memberId: bigint; readonly alarm: "NOSPACE" | "CORRUPT" }[] = [];
    private readonly list = new Map<bigint, EtcdMember>();
    private readonly processes = new Map<bigint, EtcdProcess>();
    private lost = false;
    private gapUntil = 0;
    private gapAnswered = true;
    private election: SimTimer | undefined;

    constructor(
        private readonly clock: SimClock,
        private readonly random: Random,
        private readonly events: EventLog,
        private readonly onMembersChanged: () => void,
    ) {
        this.id = random.id();
    }

    get members(): readonly EtcdMember[] {
        return [...this.list.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    }

    get voters(): readonly EtcdMember[] {
        return this.members.filter((member) => !member.learner);
    }

    member(id: bigint): EtcdMember | undefined {
        return this.list.get(id);
    }

    isAlive(id: bigint): boolean {
        return this.processes.get(id)?.alive === true;
    }

    /** Can that member commit something: does it reach a majority of the voters, itself among them? */
    hasQuorum(from: bigint): boolean {
        const own = this.processes.get(from);
        if (own?.alive !== true) return false;
        const reached = this.voters.filter(({ id }) => {
            const other = this.processes.get(id);
            if (other === own) return true;
            return other?.alive === true && own.reaches(other) && other.reaches(own);
        });
        return reached.length >= majority(this.voters.length);
    }

    /** Some member has a quorum. */
    get works(): boolean {
        return this.members.some(({ id }) => this.hasQuorum(id));
    }

    /** Resolves when something asked of `from` is committed; fails as etcd does after its time-out. */
    async committed(from: bigint): Promise<void> {
        if (this.clock.now < this.gapUntil) return this.acrossGap(from);
        if (this.hasQuorum(from) && this.leaderId !== undefined) return;
        await this.clock.wait(TIMING.etcdRequest);
        if (!this.hasQuorum(from)) throw new EtcdError(GRPC.unavailable, "request timed out");
    }

    /** The first member of a new cluster. */
    bootstrap(name: string, peerAddress: string): EtcdMember {
        const member = this.insert({ id: this.random.id(), name, peerAddress, learner: false });
        this.leaderId = member.id;
        return member;
    }

    add(peerAddress: string, learner: boolean): EtcdMember {
        if (this.members.some((member) => member.peerAddress === peerAddress)) {
            throw new EtcdError(GRPC.failedPrecondition, "Peer URLs already exists");
        }
        if (learner && this.members.some((member) => member.learner)) {
            throw new EtcdError(GRPC.failedPrecondition, "too many learner members in cluster");
        }
        return this.insert({ id: this.random.id(), name: "", peerAddress, learner });
    }

    /** A settled member, without the steps on the way. */
    insert(member: EtcdMember): EtcdMember {
        this.list.set(member.id, member);
        this.changed(member);
        return member;
    }

    start(id: bigint, name: string, process: EtcdProcess): void {
        const member = this.list.get(id);
        if (member === undefined) throw new Error(`member ${id} was removed`);
        this.processes.set(id, process);
        if (member.name !== name) {
            member.name = name;
            this.changed(member);
        }
        this.checkLeader();
    }

    /** From a backup, while nothing runs: another cluster, of members with the same names and other IDs. */
    restore(): void {
        const before = this.members;
        this.list.clear();
        this.processes.clear();
        this.id = this.random.id();
        for (const member of before) this.insert({ ...member, id: this.random.id() });
    }

    /** The process ended, or cannot be reached any more. */
    stop(id: bigint): void {
        this.processes.delete(id);
        this.checkLeader();
    }

    promote(id: bigint): void {
        const member = this.list.get(id);
        if (member === undefined) throw new EtcdError(GRPC.notFound, "member not found");
        member.learner = false;
        this.changed(member);
    }

    /** Checks as etcd does (k0s-interfaces.md 4.5). Whether it can be committed is `committed`'s business. */
    remove(id: bigint): void {
        const member = this.list.get(id);
        if (member === undefined) throw new EtcdError(GRPC.notFound, "member not found");
        if (!member.learner) this.checkRemoval(member);
        this.list.delete(id);
        this.processes.delete(id);
        this.events.add("etcd", `${id.toString(16)} removed`);
        this.checkLeader();
        this.onMembersChanged();
    }

    moveLeader(asked: bigint, to: bigint): void {
        if (asked !== this.leaderId) throw new EtcdError(GRPC.failedPrecondition, "not leader");
        const target = this.list.get(to);
        if (target === undefined || target.learner) {
            throw new EtcdError(GRPC.failedPrecondition, "bad leader transferee");
        }
        this.lead(to);
    }

    /** Something outside changed: power, firewall, a hung process. */
    checkLeader(): void {
        this.noticeQuorum();
        const { leaderId } = this;
        if (leaderId !== undefined && this.list.has(leaderId) && this.hasQuorum(leaderId)) return;
        if (leaderId !== undefined) {
            this.leaderId = undefined;
            this.gapUntil = this.clock.now + TIMING.writeGap;
            this.gapAnswered = false;
            this.events.add("leader", "etcd has no leader");
        }
        this.election?.cancel();
        this.election = this.clock.after(TIMING.election, () => {
            const next = this.voters.find(({ id }) => this.hasQuorum(id));
            if (next !== undefined) this.lead(next.id);
        });
    }

    /** Every majority is gone, whatever the reason. */
    private noticeQuorum(): void {
        const lost = this.list.size > 0 && !this.works;
        if (lost && !this.lost) this.events.add("leader", "etcd has no quorum");
        this.lost = lost;
    }

    private lead(id: bigint): void {
        this.leaderId = id;
        this.term += 1;
        this.events.add("leader", `etcd leader is ${this.list.get(id)?.name ?? ""}`);
    }

    private checkRemoval(member: EtcdMember): void {
        const others = this.voters.filter((voter) => voter !== member);
        const needed = majority(others.length);
        if (others.filter(({ name }) => name !== "").length < needed) {
            const why = "re-configuration failed due to not enough started members";
            throw new EtcdError(GRPC.failedPrecondition, why);
        }
        const alive = others.filter(({ id }) => this.isAlive(id)).length;
        if (this.isAlive(member.id) && alive < needed) throw new EtcdError(GRPC.unavailable, "unhealthy cluster");
    }

    /** One request ends with a failure, the others when the gap is over (observed.md: one write answered 500). */
    private async acrossGap(from: bigint): Promise<void> {
        const first = !this.gapAnswered;
        this.gapAnswered = true;
        await this.clock.wait(this.gapUntil - this.clock.now);
        if (first) throw new EtcdError(GRPC.unavailable, "leader changed");
        await this.committed(from);
    }

    private changed(member: EtcdMember): void {
        const { id, name, peerAddress, learner } = member;
        const state = name === "" ? "unstarted" : "started";
        this.events.add("etcd", `${id.toString(16)}, ${state}, ${name}, ${peerUrl(peerAddress)}, ${learner}`);
        this.onMembersChanged();
    }
}

/** As k0s's `EtcdConfig.GetPeerURL` (storage.go, 1.36.3). */
export function peerUrl(peerAddress: string): string {
    return httpsUrl(peerAddress, 2380);
}

export function majority(voters: number): number {
    return Math.floor(voters / 2) + 1;
}
