import type { Kube, LeaseObject, NewLease } from "../../provider/adapters/kube";
import { microTime } from "../../provider/adapters/kube/parse";
import { ApiError } from "../../provider/errors";
import type { LockClock } from "../../provider/lock";

interface Sleeper {
    readonly at: number;
    readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements LockClock {
    private now = 0;
    private wallOffset = Date.parse("2026-11-29T14:00:00Z");
    private sleepers: Sleeper[] = [];

    monotonic(): number {
        return this.now;
    }

    wall(): number {
        return this.now + this.wallOffset;
    }

    sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
        return new Promise((resolve) => {
            const wake = (): void => {
                signal?.removeEventListener("abort", wake);
                resolve();
            };
            this.sleepers.push({ at: this.now + milliseconds, wake });
            signal?.addEventListener("abort", wake);
            if (signal?.aborted) wake();
        });
    }

    /** Lets that much time pass; whoever wakes meanwhile gets to do what it does. */
    async advance(milliseconds: number): Promise<void> {
        const end = this.now + milliseconds;
        await settle();
        for (;;) {
            const next = this.sleepers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
            if (next === undefined) break;
            this.sleepers = this.sleepers.filter((sleeper) => sleeper !== next);
            this.now = Math.max(this.now, next.at);
            next.wake();
            await settle();
        }
        this.now = end;
    }

    /** The machine sleeps: nobody wakes, and only the wall clock goes on. */
    suspend(milliseconds: number): void {
        this.wallOffset += milliseconds;
    }
}

/** Everything that can happen without time passing happens. */
async function settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The Leases of a cluster, as the API server keeps them. */
export class FakeLeases {
    failure: Error | undefined;
    readonly writes: LeaseObject[] = [];
    private readonly leases = new Map<string, LeaseObject>();
    private version = 1;

    constructor(private readonly clock: FakeClock) {}

    readonly kube = {
        lease: (_namespace: string, name: string) => this.answer(() => this.leases.get(name)),
        leases: (_namespace: string, selector?: string) =>
            this.answer(() =>
                [...this.leases.values()].filter(({ labels }) => {
                    const [key = "", value] = (selector ?? "").split("=");
                    return labels[key] === value;
                }),
            ),
        createLease: (lease: NewLease) =>
            this.answer(() => {
                if (this.leases.has(lease.name)) return undefined;
                return this.write({ ...lease, uid: `uid-${this.version}`, acquireTime: this.time() });
            }),
        replaceLease: (lease: LeaseObject) =>
            this.answer(() => {
                const before = this.leases.get(lease.name);
                if (before?.resourceVersion !== lease.resourceVersion) return undefined;
                return this.write(lease);
            }),
        deleteLease: (_namespace: string, name: string, resourceVersion?: string) =>
            this.answer(() => {
                const before = this.leases.get(name);
                if (before === undefined) return true;
                if (resourceVersion !== undefined && before.resourceVersion !== resourceVersion) return false;
                return this.leases.delete(name);
            }),
    } as unknown as Kube;

    get(name: string): LeaseObject | undefined {
        return this.leases.get(name);
    }

    /** What another process wrote. */
    put(lease: Partial<LeaseObject> & { readonly name: string }): LeaseObject {
        return this.write({
            namespace: "kube-system",
            holder: "somebody/else",
            durationSeconds: 60,
            labels: { "app.kubernetes.io/managed-by": "pulumi-mke" },
            annotations: { "pulumi-mke/process": "another process", "pulumi-mke/held-from": "laptop, process 7" },
            uid: "uid-other",
            acquireTime: this.time(),
            ...lease,
        });
    }

    remove(name: string): void {
        this.leases.delete(name);
    }

    private write(lease: Omit<LeaseObject, "resourceVersion" | "renewTime">): LeaseObject {
        this.version += 1;
        const written = { ...lease, resourceVersion: String(this.version), renewTime: this.time() };
        this.leases.set(lease.name, written);
        this.writes.push(written);
        return written;
    }

    private time(): string {
        return microTime(new Date(this.clock.wall()));
    }

    private answer<T>(action: () => T): Promise<T> {
        return this.failure === undefined ? Promise.resolve().then(action) : Promise.reject(this.failure);
    }
}

export const apiAway = new ApiError({ stage: "asking", what: "503", code: 503, retryable: true });
