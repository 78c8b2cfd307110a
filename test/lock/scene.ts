import { createRequire } from "node:module";
import { type HeldLock, type LockKind, type LockRequest, withLock } from "../../provider/lock";
import { FakeClock, FakeLeases } from "./fakes";

export const CONTROL_PLANE = "pulumi-mke-control-plane";

/** A lock module that shares nothing with ours, as in another process. */
export function anotherProcess(): typeof withLock {
    const load = createRequire(__filename);
    const ours = Object.entries(load.cache).filter(([path]) => /provider[/\\]lock[/\\]/.test(path));
    for (const [path] of ours) Reflect.deleteProperty(load.cache, path);
    try {
        return (load("../../provider/lock") as { withLock: typeof withLock }).withLock;
    } finally {
        for (const [path, module] of ours) load.cache[path] = module;
    }
}

/** An operation that runs until it is told to end. */
export class Operation {
    held: HeldLock | undefined;
    failure: Error | undefined;
    ended = false;
    readonly finished: Promise<void>;
    private end: (error?: Error) => void = () => undefined;

    constructor(request: LockRequest, lock = withLock) {
        this.finished = lock(request, (held) => {
            this.held = held;
            return new Promise<void>((resolve, reject) => {
                this.end = (error) => (error ? reject(error) : resolve());
            });
        })
            .catch((error: unknown) => void (this.failure = error as Error))
            .finally(() => (this.ended = true));
    }

    async finish(error?: Error): Promise<void> {
        this.end(error);
        await this.finished;
    }
}

let clusters = 0;

/** A cluster of its own with its clock, and what is said about its lock. */
export class LockScene {
    readonly clock = new FakeClock();
    readonly leases = new FakeLeases(this.clock);
    readonly lines: string[] = [];
    private readonly clusterId = `cluster ${(clusters += 1)}`;
    private readonly running: Operation[] = [];

    controlPlane(more?: Partial<LockRequest>): LockRequest {
        return this.request({ controlPlane: true }, more);
    }

    node(name: string, more?: Partial<LockRequest>): LockRequest {
        return this.request({ node: name }, more);
    }

    drain(limit: number, more?: Partial<LockRequest>): LockRequest {
        return this.request({ drain: limit }, more);
    }

    async start(request: LockRequest, lock = withLock): Promise<Operation> {
        const operation = new Operation(request, lock);
        this.running.push(operation);
        await this.clock.advance(0);
        return operation;
    }

    async end(): Promise<void> {
        this.leases.failure = undefined;
        for (const operation of this.running) if (operation.held) await operation.finish();
    }

    private request(kind: LockKind, more: Partial<LockRequest> = {}): LockRequest {
        return {
            kube: () => this.leases.kube,
            clusterId: this.clusterId,
            kind,
            owner: "org/project/stack/c3",
            timeoutSeconds: 600,
            log: { line: (text) => this.lines.push(text) },
            timing: { clock: this.clock },
            ...more,
        };
    }
}

export function isHeld({ held, ended }: Operation): boolean {
    return held !== undefined && !ended;
}
