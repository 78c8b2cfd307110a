import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Bag } from "../../provider/resource/shape";
import { impatientLocks, killed, type Moment, sideBySide, Watch, World } from "../support/interruption";

/** So many clusters at once: most of the time they only wait. */
const LANES = 6;

/** An operation, from a cluster in which it has something to do. */
export interface Operation {
    readonly title: string;
    readonly settled: readonly string[];
    readonly node: string;
    readonly prepare?: (world: World) => Promise<State>;
    /** What the simulation may see besides. */
    readonly except?: RegExp;
    readonly run: (world: World, before: State) => Promise<unknown>;
}

export type State = { readonly id: string; readonly outs: Bag };

const NO_STATE: State = { id: "", outs: {} };

export function adding(node: string, settled: readonly string[]): Operation {
    return { title: `adding ${node}`, settled, node, run: async (world) => world.create(node) };
}

export function removing(node: string, settled: readonly string[]): Operation {
    return {
        title: `removing ${node}`,
        settled,
        node,
        prepare: async (world) => world.create(node),
        run: (_world, { id, outs }) => World.kindOf(node).delete(id, outs),
    };
}

/** Its machine was replaced by a blank one behind our back. */
export function rebuilding(node: string, settled: readonly string[]): Operation {
    return {
        title: `rebuilding ${node}`,
        settled,
        node,
        prepare: async (world) => {
            const made = await world.create(node);
            world.sim.find(node).wipe();
            await world.rest();
            return { id: made.id, outs: await world.refresh(node, made) };
        },
        run: async (world, { id, outs }) => world.update(node, id, outs),
    };
}

/** Its k0s gets other flags, its Node taints; a controller another k0s.yaml. */
export function reinstalling(node: string, settled: readonly string[]): Operation {
    const k0sConfig = { spec: { telemetry: { enabled: false } } };
    const more = {
        installFlags: ["--debug"],
        taints: ["a:NoSchedule"],
        ...(node.startsWith("c") && { k0sConfig }),
    };
    return {
        title: `reinstalling ${node}`,
        settled,
        node,
        prepare: async (world) => world.create(node),
        run: async (world, { id, outs }) => world.update(node, id, outs, more),
    };
}

/** How it ends when nobody interrupts it, and every change that was made on the way. */
async function undisturbed(
    operation: Operation,
): Promise<{ readonly end: object; readonly moments: readonly Moment[] }> {
    const world = await World.start(operation.settled);
    try {
        const before = (await operation.prepare?.(world)) ?? NO_STATE;
        const watch = new Watch(world.sim, undefined);
        await operation.run(world, before);
        world.sim.onEvent(undefined);
        await world.rest();
        world.sim.assertInvariants(operation.except);
        return { end: world.snapshot(), moments: watch.moments };
    } finally {
        await world.close();
    }
}

/** The end of a connection in the middle of a program: a shell does nothing with it, and nor does the simulation. */
const CUT_SHORT = /not a pulumi-mke program/;

/** k0s brings its objects up to date in its own rhythm: what was seen once may be passed over the next time. */
const K0S_OWN = /^(object|node) /;

/** Killed at that moment, run again, and at rest. */
async function interrupted(operation: Operation, moment: Moment): Promise<object> {
    const world = await World.start(operation.settled);
    try {
        const before = (await operation.prepare?.(world)) ?? NO_STATE;
        const watch = new Watch(world.sim, moment);
        await killed(world, () => operation.run(world, before));
        assert.ok(watch.hasKilled || K0S_OWN.test(moment.what), "it never came to that");
        if (watch.hasKilled) await operation.run(world, before);
        await world.rest();
        world.sim.assertInvariants(operation.except ?? CUT_SHORT);
        return world.snapshot();
    } finally {
        await world.close();
    }
}

/** What went otherwise than without the kill; undefined: nothing. */
async function difference(operation: Operation, moment: Moment, end: object): Promise<string | undefined> {
    try {
        assert.deepEqual(await interrupted(operation, moment), end);
        return undefined;
    } catch (error) {
        return `killed at ${moment.what} (${moment.nth}): ${(error as Error).message}`;
    }
}

/** For each: an operation that is killed at any of its changes and run again. */
export function describeKilled(title: string, operations: readonly Operation[]): void {
    describe(title, function () {
        this.timeout("50m");
        impatientLocks();

        for (const operation of operations) {
            it(`${operation.title} ends as if it had never been killed`, async () => {
                const { end, moments } = await undisturbed(operation);
                const found = await sideBySide(moments, LANES, (moment) => difference(operation, moment, end));
                const differences = found.filter((one) => one !== undefined);
                console.log(
                    `    ${operation.title}: killed at ${moments.length} changes, each in a cluster of its own`,
                );
                if (differences.length > 0) assert.fail(differences.join("\n\n"));
            });
        }
    });
}
