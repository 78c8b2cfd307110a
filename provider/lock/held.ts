import type { Kube, LeaseObject } from "../adapters/kube";
import { LockError, reasonOf } from "../errors";
import type { OperationRecord } from "../facts/host";
import type { Log } from "../log";
import { isFree } from "./leases";
import { Mutex } from "./mutex";
import { recordAbout, recordIn, type RecordSubject, withoutRecord, withRecord } from "./records";
import { elapsedSince, type LockTiming, type Moment, momentOf } from "./timing";

const STAGE = "holding the lock";
/** A third party may write to our Lease (an annotation); more than this in a row is a fight. */
const MAX_CONFLICTS = 3;

/** Another way to the cluster, where the operation's own is lost. */
export type Elsewhere = () => Promise<{ readonly kube: Kube; close(): void }>;

/** A lock that is held. */
export interface HeldLock {
    /** Reads the Lease again; fails with a LockError when it is not ours any more or our last renewal is too long ago. */
    prove(): Promise<void>;
    /** How many seconds the Lease lives without a renewal from now on, until it is said otherwise. */
    stretch(seconds: number): Promise<void>;
    /** Writes what the operation is about into the Lease, before its first change (safety.md 11). */
    record(record: OperationRecord): Promise<void>;
    /** The cluster has ended with this operation, and the Lease with it: nothing is renewed or given back any more. */
    forget(): void;
    /** As last written. */
    readonly lease: LeaseObject;
    /** What an earlier holder left unfinished on this machine, or the latest on any, if the Lease still told. */
    readonly found: OperationRecord | undefined;
}

export class HeldLease implements HeldLock {
    readonly found: OperationRecord | undefined;
    private readonly stop = new AbortController();
    private readonly serial = new Mutex();
    private recorded: RecordSubject | undefined;
    private lost: string | undefined;
    private forgotten = false;
    private renewing: Promise<void> = Promise.resolve();

    constructor(
        private kube: () => Kube,
        private current: LeaseObject,
        /** Taken before the request that wrote `current` was sent. */
        private renewed: Moment,
        about: RecordSubject,
        private readonly timing: LockTiming,
        private readonly log: Log,
    ) {
        this.found = recordAbout(current, about);
    }

    get lease(): LeaseObject {
        return this.current;
    }

    startRenewing(): void {
        this.renewing = this.renew();
    }

    async prove(): Promise<void> {
        this.requireFresh();
        await this.serial.run(() => this.look());
        this.requireFresh();
    }

    async stretch(seconds: number): Promise<void> {
        await this.write((lease) => ({ ...lease, durationSeconds: seconds }));
    }

    async record(record: OperationRecord): Promise<void> {
        await this.write((lease) => withRecord(lease, record));
        this.recorded = record;
    }

    forget(): void {
        this.stop.abort();
        this.forgotten = true;
    }

    /**
     * Gives the lock back, in turns through the connection that the operation had and `elsewhere`. Records that are still of use
     * stay in a Lease without a holder. Never fails: what the operation did stays done.
     */
    async release(succeeded: boolean, elsewhere?: Elsewhere): Promise<void> {
        this.stop.abort();
        await this.renewing;
        if (this.lost !== undefined || this.forgotten) return;
        const left = this.leftBehind(succeeded);
        const giveBack = (): Promise<void> =>
            this.serial.run(() => (recordIn(left(this.current)) === undefined ? this.remove() : this.abandon(left)));
        const { clock, retryEvery, releaseFor } = this.timing;
        const end = clock.monotonic() + releaseFor;
        for (let isOther = false; ; isOther = !isOther && elsewhere !== undefined) {
            try {
                await (isOther && elsewhere !== undefined ? this.through(elsewhere, giveBack) : giveBack());
                return;
            } catch (error) {
                if (clock.monotonic() + retryEvery > end) {
                    this.tellUnreleased(error);
                    return;
                }
            }
            await clock.sleep(retryEvery);
        }
    }

    private async through(elsewhere: Elsewhere, action: () => Promise<void>): Promise<void> {
        const own = this.kube;
        const other = await elsewhere();
        this.kube = () => other.kube;
        try {
            await action();
        } finally {
            this.kube = own;
            other.close();
        }
    }

    private async renew(): Promise<void> {
        const { clock, renewEvery, retryEvery } = this.timing;
        let pause = renewEvery;
        while (this.lost === undefined) {
            await clock.sleep(pause, this.stop.signal);
            if (this.stop.signal.aborted) return;
            pause = (await this.renewOnce()) ? renewEvery : retryEvery;
        }
    }

    private async renewOnce(): Promise<boolean> {
        try {
            await this.write((lease) => lease);
            return true;
        } catch (error) {
            // the API may be away for a while in a join or leave; `prove` tells when it was too long
            this.log.line(`the lock could not be renewed: ${reasonOf(error)}`, "quiet");
            return false;
        }
    }

    private async write(change: (lease: LeaseObject) => LeaseObject): Promise<void> {
        await this.serial.run(async () => {
            for (let conflict = 0; conflict < MAX_CONFLICTS; conflict += 1) {
                this.requireNotLost();
                const moment = momentOf(this.timing.clock);
                const written = await this.kube().replaceLease(change(this.current));
                if (written !== undefined) {
                    this.current = written;
                    this.renewed = moment;
                    return;
                }
                await this.look();
            }
            throw this.lockError(`its Lease ${this.current.name} is changed by somebody else all the time`);
        });
    }

    /** Adopts the Lease as it stands, if it is still ours. */
    private async look(): Promise<void> {
        const { namespace, name, holder, uid } = this.current;
        const lease = await this.kube().lease(namespace, name);
        if (lease !== undefined && lease.holder === holder && lease.uid === uid) {
            this.current = lease;
            return;
        }
        this.lost =
            lease === undefined || isFree(lease)
                ? `its Lease ${name} was released by somebody else`
                : `its Lease ${name} is held by ${lease.holder} now`;
        throw this.lockError(this.lost);
    }

    private requireFresh(): void {
        this.requireNotLost();
        const age = elapsedSince(this.timing.clock, this.renewed);
        if (age <= this.current.durationSeconds * 1000 - this.timing.margin) return;
        throw this.lockError(
            `its Lease ${this.current.name} was last renewed ${Math.round(age / 1000)} s ago and lives ${this.current.durationSeconds} s`,
        );
    }

    private requireNotLost(): void {
        if (this.lost !== undefined) throw this.lockError(this.lost);
    }

    private async remove(): Promise<void> {
        const { namespace, name, resourceVersion } = this.current;
        if (await this.kube().deleteLease(namespace, name, resourceVersion)) return;
        if (await this.isStillOurs()) await this.kube().deleteLease(namespace, name, this.current.resourceVersion);
    }

    /** Of what the Lease tells, a success takes away what it was about itself, and nothing of others (safety.md 11). */
    private leftBehind(succeeded: boolean): (lease: LeaseObject) => LeaseObject {
        const { recorded } = this;
        return succeeded && recorded !== undefined ? (lease) => withoutRecord(lease, recorded) : (lease) => lease;
    }

    private async abandon(left: (lease: LeaseObject) => LeaseObject): Promise<void> {
        const free = (): LeaseObject => ({ ...left(this.current), holder: "" });
        if ((await this.kube().replaceLease(free())) !== undefined) return;
        if (await this.isStillOurs()) await this.kube().replaceLease(free());
    }

    private async isStillOurs(): Promise<boolean> {
        try {
            await this.look();
            return true;
        } catch (error) {
            if (error instanceof LockError) return false;
            throw error;
        }
    }

    private tellUnreleased(error: unknown): void {
        this.log.line(
            `the lock ${this.current.name} could not be given back, and is renewed no more: ${reasonOf(error)}`,
            "quiet",
        );
    }

    private lockError(what: string): LockError {
        return new LockError({
            stage: STAGE,
            what,
            advice: "Nothing more was done without the lock. Look at what the other operation does, then run again.",
        });
    }
}
