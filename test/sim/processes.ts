import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import type { Bag } from "../../provider/resource/shape";
import { DynamicProvider, type Properties } from "../support/dynamic-provider";
import { root } from "../support/root";

/** What the locks of such a process are made of, in place of minutes. */
export interface ShortLocks {
    /** Seconds that a Lease lives without a renewal, and around a join or leave. */
    readonly life: number;
    readonly joinLife: number;
}

/**
 * Pulumi's dynamic-provider processes with this package in them, each as another `pulumi up` would have it: they share
 * nothing but the cluster. Their engine is one that never ends; their locks are short.
 */
export class ProviderProcesses {
    private readonly processes: DynamicProvider[] = [];

    private constructor(
        private readonly engine: Server,
        private readonly locks: ShortLocks,
    ) {}

    static async start(locks: ShortLocks): Promise<ProviderProcesses> {
        const engine = createServer((socket) => socket.on("error", () => undefined));
        await new Promise<void>((resolve) => engine.listen(0, "127.0.0.1", resolve));
        return new ProviderProcesses(engine, locks);
    }

    async another(): Promise<ProviderProcess> {
        const { port } = this.engine.address() as AddressInfo;
        const provider = await DynamicProvider.start(root, `127.0.0.1:${port}`);
        this.processes.push(provider);
        return new ProviderProcess(provider, this.locks);
    }

    async stop(): Promise<void> {
        await Promise.all(this.processes.splice(0).map((provider) => provider.stop()));
        await new Promise((resolve) => this.engine.close(resolve));
    }
}

export class ProviderProcess {
    constructor(
        readonly provider: DynamicProvider,
        private readonly locks: ShortLocks,
    ) {}

    /** Its log, line by line. */
    get output(): readonly string[] {
        return this.provider.output;
    }

    async create(kind: "controller" | "worker", program: Bag): Promise<{ id: string; properties: Properties }> {
        const { inputs, failures } = await this.provider.check({}, { ...program, __provider: this.text(kind) });
        if (failures.length > 0) throw new Error(failures.join("; "));
        return this.provider.create(inputs);
    }

    /** `properties`: as any of the processes made them. */
    delete(kind: "controller" | "worker", id: string, properties: Properties): Promise<void> {
        return this.provider.delete(id, { ...properties, __provider: this.text(kind) });
    }

    /** What stands in state in place of the stub: our own provider, with other times. */
    private text(kind: "controller" | "worker"): string {
        const { life, joinLife } = this.locks;
        const file = (path: string): string => JSON.stringify(join(root, "dist/provider", path));
        const lock = {
            durationSeconds: life,
            renewEvery: life * 300,
            retryEvery: 100,
            pollEvery: 100,
            margin: life * 200,
        };
        const stretch = { SHORT_LEASE_SECONDS: life, JOIN_LEASE_SECONDS: joinLife };
        return `exports.handler = () => {
            Object.assign(require(${file("lock/timing")}).DEFAULT_TIMING, ${JSON.stringify(lock)});
            Object.assign(require(${file("stages/timing")}), ${JSON.stringify(stretch)});
            return require("pulumi-mke/provider").${kind};
        };`;
    }
}
