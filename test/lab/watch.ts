import { setTimeout as sleep } from "node:timers/promises";
import { etcdSeenFrom, memberTable, type SeenMember } from "./inspect";
import type { Machine } from "./machines";
import { Writer, type Written } from "./writer";

/** Milliseconds from one question to the next machine's. */
const ASK_EVERY = 400;

export interface Watched {
    /** How many voters there were after each change of that number, from the beginning. */
    readonly voters: readonly number[];
    /** Of all clusters that any of the machines served. */
    readonly clusterIds: readonly string[];
    readonly written: Written;
}

/**
 * Watches etcd on these machines while the action runs, one after the other and not through the provider, and shows the
 * member table whenever it changes; writes through the API all the while, and shows the longest gap.
 */
export async function watched(
    admin: Machine,
    machines: () => readonly Machine[],
    action: () => Promise<unknown>,
): Promise<Watched> {
    const writer = await Writer.start(admin, machines);
    const watch = new EtcdWatch(machines);
    try {
        await action();
    } finally {
        await watch.stop();
        await writer.stop();
        const { longestGap, writes, failures } = writer.written;
        console.log(
            `  longest gap between two writes: ${longestGap.toFixed(2)} s (${writes} writes, ${failures} failed)`,
        );
    }
    return { voters: watch.voters, clusterIds: [...watch.clusterIds].sort(), written: writer.written };
}

class EtcdWatch {
    readonly voters: number[] = [];
    readonly clusterIds = new Set<string>();
    private readonly began = performance.now();
    private readonly asked = new Map<string, Promise<void>>();
    private stopped = false;
    private shown = "";
    /** When the answer came that was last taken: what was asked before it may be older than it. */
    private taken = 0;
    private readonly running: Promise<void>;

    constructor(private readonly machines: () => readonly Machine[]) {
        this.running = this.run();
    }

    async stop(): Promise<void> {
        this.stopped = true;
        await this.running;
        await Promise.all(this.asked.values());
    }

    /** A machine that does not answer holds up nobody but itself. */
    private async run(): Promise<void> {
        for (let turn = 0; !this.stopped; turn += 1) {
            const machines = this.machines();
            const machine = machines[turn % machines.length];
            if (machine !== undefined && !this.asked.has(machine.name)) this.ask(machine);
            await sleep(ASK_EVERY);
        }
    }

    private ask(machine: Machine): void {
        const at = performance.now();
        const answer = etcdSeenFrom(machine).then(
            ({ clusterId, members }) => {
                this.clusterIds.add(clusterId);
                if (at >= this.taken) this.take(members);
            },
            () => {},
        );
        this.asked.set(
            machine.name,
            answer.finally(() => this.asked.delete(machine.name)),
        );
    }

    private take(members: readonly SeenMember[]): void {
        this.taken = performance.now();
        const table = memberTable([...members].sort((a, b) => a.peer.localeCompare(b.peer)));
        if (table === this.shown) return;
        this.shown = table;
        console.log(`  members after ${((this.taken - this.began) / 1000).toFixed(1)} s:\n${table}`);
        const voters = members.filter(({ learner }) => !learner).length;
        if (voters !== this.voters.at(-1)) this.voters.push(voters);
    }
}
