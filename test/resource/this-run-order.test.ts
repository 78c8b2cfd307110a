import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, it } from "mocha";
import { exclusively } from "../../provider/lock/mutex";
import { silentLog } from "../../provider/log";
import {
    actUndisturbed,
    decideAfter,
    endBefore,
    endBeforeLast,
    HelperRemovedError,
    isLeaving,
    type Removal,
    whileRemoving,
    whileWorking,
} from "../../provider/resource/this-run";
import { Random } from "../sim/model/random";
import { FUZZ_SEED } from "../support/fuzz-seed";

const RUNS = 300;
/** Milliseconds after which what is still going is held to be stuck; each run takes some 5 s, and all go at once. */
const LIMIT = 90_000;
/** Milliseconds that an operation takes, and until it begins, at most: longer than the time between two looks at others. */
const TIME = 900;

const FAILURE = new Error("it failed");
const REFUSED = new Error("refused");

describe(`operations of one run, begun in any order (FUZZ_SEED=${FUZZ_SEED})`, function () {
    this.timeout(LIMIT + 10_000);

    it("all come to their end, and no controller goes while a worker works through it", async () => {
        const runs = Array.from({ length: RUNS }, (_, index) => new Run(FUZZ_SEED + index));
        const limit = new AbortController();
        const tooLate = sleep(LIMIT, undefined, { signal: limit.signal }).then(
            () => assert.fail(`stuck: ${runs.flatMap((run) => run.going).join("; ")}`),
            () => undefined,
        );
        await Promise.race([Promise.all(runs.map((run) => run.toEnd())), tooLate]);
        limit.abort();
    });
});

/** Some operations on a cluster of its own, of four controllers, as the resources run them. */
class Run {
    private readonly left = new Set<string>();
    /** Hosts of controllers that workers work through just now, once for each. */
    private readonly through: string[] = [];

    constructor(private readonly seed: number) {}

    /** What has not ended. */
    get going(): string[] {
        return [...this.left].map((name) => `seed ${this.seed}: ${name}`);
    }

    async toEnd(): Promise<void> {
        const count = 3 + new Chance(this.seed).below(8);
        await Promise.all(Array.from({ length: count }, (_, index) => this.operation(index)));
    }

    private async operation(index: number): Promise<void> {
        const chance = new Chance(this.seed * 1000 + index);
        const controller = chance.oneOf(this.controllers);
        const name = `w${index}`;
        const [title, action] = chance.oneOf<readonly [string, () => Promise<void>]>([
            [`removal of ${controller}`, () => this.removeController(controller, chance)],
            [`removal of ${name}`, () => this.removing("worker", name, () => act(chance))],
            [`work on ${name}`, () => this.work(name, chance)],
            // There is one last controller at most.
            index === 0 ? ["the end", () => this.removeLast(chance)] : ["work", () => this.work(name, chance)],
        ]);
        this.left.add(`${index}: ${title}`);
        if (chance.below(2) === 0) await sleep(chance.below(TIME));
        await action().catch((error: unknown) => assert.equal(error, FAILURE));
        this.left.delete(`${index}: ${title}`);
    }

    private removing(
        kind: Removal["kind"],
        nodeName: string,
        action: (itself: Removal) => Promise<void>,
    ): Promise<void> {
        return whileRemoving(kind, { clusterId: this.clusterId, nodeName, host: this.hostOf(nodeName) }, action);
    }

    private removeController(name: string, chance: Chance): Promise<void> {
        return this.removing("controller", name, (itself) => {
            const others = (): string[] => endBefore(itself);
            return actUndisturbed({ others, log: silentLog, mayPass: (error) => error === REFUSED }, async () => {
                if (!(await decides(others, chance))) return;
                await this.underLock(async () => {
                    if (others().length > 0 && chance.below(2) === 0) throw REFUSED;
                    await this.goes(itself, chance);
                });
            });
        });
    }

    private removeLast(chance: Chance): Promise<void> {
        return this.removing("controller", "c4", async (itself) => {
            if (await decides(() => endBeforeLast(itself), chance))
                await this.underLock(() => this.goes(itself, chance));
        });
    }

    private underLock(action: () => Promise<void>): Promise<void> {
        return exclusively(this.clusterId, () => undefined, action);
    }

    private async goes({ host }: Removal, chance: Chance): Promise<void> {
        const requireUnused = (): void => assert.ok(!this.through.includes(host), `seed ${this.seed}: ${host} is used`);
        requireUnused();
        await act(chance).finally(requireUnused);
    }

    /** As a session does it: controllers that are leaving come last, and another one is looked for where one has gone. */
    private async work(name: string, chance: Chance): Promise<void> {
        await sleep(chance.below(30));
        const hosts = this.controllers.map((controller) => this.hostOf(controller));
        const staying = hosts.filter((host) => !isLeaving(host));
        const through = chance.oneOf(staying.length > 0 ? staying : hosts);
        try {
            await whileWorking({ name, clusterId: this.clusterId, through }, silentLog, async () => {
                this.through.push(through);
                await act(chance).finally(() => this.through.splice(this.through.indexOf(through), 1));
            });
        } catch (error) {
            if (!(error instanceof HelperRemovedError)) throw error;
            await this.work(name, chance);
        }
    }

    private get clusterId(): string {
        return `cluster of seed ${this.seed}`;
    }

    private hostOf(name: string): string {
        return `${name} of seed ${this.seed}`;
    }

    private readonly controllers = ["c1", "c2", "c3"] as const;
}

/** Each operation has its own, so that what it does hangs on the seed alone. */
class Chance {
    private readonly random: Random;

    constructor(seed: number) {
        this.random = new Random(seed);
    }

    below(limit: number): number {
        return Math.floor(this.random.next() * limit);
    }

    oneOf<T>(list: readonly T[]): T {
        return list[this.below(list.length)] as T;
    }
}

async function act(chance: Chance): Promise<void> {
    await sleep(chance.below(TIME));
    if (chance.below(4) === 0) throw FAILURE;
}

/** False where it decides to do nothing, whatever the others do. */
async function decides(others: () => string[], chance: Chance): Promise<boolean> {
    const decide = async (): Promise<boolean> => {
        await sleep(chance.below(30));
        return chance.below(20) > 0;
    };
    return decideAfter({ others, log: silentLog, decide, isFinal: (goes) => !goes });
}
