import assert from "node:assert/strict";
import { RESOURCES, type SimEvent, type Simulation } from "../sim";
import type { Engine } from "../support/engine";
import { endNow } from "../support/engine-processes";
import { leftOn } from "./machines";
import type { Scene } from "./scene";

/** Real time within which a provider whose CLI was killed has ended; no stage here takes as long on the slowest machine. */
const LIMIT = 300_000;

/** The end of a connection in the middle of a program: a shell does nothing with it, and nor does the simulation. */
export const CUT_SHORT = /not a pulumi-mke program/;

/** At which event of the simulation something happens. */
export type Moment = (event: SimEvent) => boolean;

/** A program of the fixed vocabulary runs on that host. */
export function runs(name: string, what: string): Moment {
    return ({ kind, host, what: program }) => kind === "program" && host === name && program === what;
}

/** Does it once, at that moment. Answers whether it came to that. */
export function at(sim: Simulation, moment: Moment, act: () => void): () => boolean {
    let done = false;
    sim.onEvent((event) => {
        if (done || !moment(event)) return;
        done = true;
        act();
    });
    return () => done;
}

/** Runs it to its kill (SIGKILL), and waits until no process of it is left. */
export async function killed(
    { sim, engine }: Scene,
    whom: "cli" | "cli and provider",
    moment: Moment,
    action: () => Promise<unknown>,
): Promise<void> {
    const isDone = at(sim, moment, () => {
        const doomed = engine.processes().filter(({ kind }) => kind === "cli" || whom !== "cli");
        doomed.forEach(endNow);
    });
    await assert.rejects(action());
    assert.ok(isDone(), "it never came to that moment");
    await allEnded(engine);
}

/** Fails where a process of the engine lives on. */
export async function allEnded(engine: Engine): Promise<void> {
    const end = performance.now() + LIMIT;
    while (engine.processes().length > 0) {
        assert.ok(performance.now() < end, `still running: ${JSON.stringify(engine.processes())}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/** Our Leases, with their holders. */
export function locks(sim: Simulation): Record<string, unknown> {
    const ours = sim.cluster.store
        .list(RESOURCES.leases)
        .filter(({ metadata }) => metadata.name.startsWith("pulumi-mke-"));
    return Object.fromEntries(ours.map(({ metadata, spec }) => [metadata.name, spec?.["holderIdentity"] ?? ""]));
}

/** Nobody holds a lock; what an interrupted operation noted may still lie in one. */
export function assertUnlocked(sim: Simulation): void {
    assert.deepEqual(
        Object.entries(locks(sim)).filter(([, holder]) => holder !== ""),
        [],
    );
}

/** These nodes and no others, all of them sound, and nothing left of any operation. */
export async function assertWhole(
    scene: Scene,
    controllers: readonly string[],
    workers: readonly string[],
): Promise<void> {
    const { sim, engine } = scene;
    assert.deepEqual(scene.sim.memberNames(), ["c1", ...controllers]);
    const nodes = sim.cluster.store.list(RESOURCES.nodes);
    const expected = ["c1", ...controllers, ...workers];
    assert.deepEqual(nodes.map(({ metadata }) => metadata.name).sort(), expected);
    for (const { metadata, spec } of nodes) assert.equal(spec?.["unschedulable"] ?? false, false, metadata.name);
    for (const name of [...controllers, ...workers]) {
        assert.equal(sim.find(name).units.installed?.active, "active");
        const { status, drift } = await engine.outputsOf(name);
        assert.deepEqual([status, drift], ["ready", []]);
        const marker = JSON.parse(sim.find(name).files.text("/etc/pulumi-mke/node.json") ?? "{}") as object;
        assert.ok("token" in marker && !("operation" in marker), `${name} is marked, and no operation is open`);
    }
    for (const { name } of sim.hosts) if (!expected.includes(name)) assert.deepEqual(leftOn(sim.find(name)), [], name);
    assert.deepEqual(locks(sim), {});
}

/** Operations that the engine knows to be unfinished, from killed runs. */
export async function pending(engine: Engine): Promise<string[]> {
    const { deployment } = (await engine.state()) as {
        deployment: { pending_operations?: readonly { type: string; resource: { urn: string } }[] };
    };
    return (deployment.pending_operations ?? []).map(
        ({ type, resource }) => `${type} ${resource.urn.split("::").at(-1) ?? ""}`,
    );
}

interface StateResource {
    readonly urn: string;
    readonly delete?: boolean;
    readonly pendingReplacement?: boolean;
}

/** Names of the resources that the state keeps only for a replacement that did not end. */
export async function oldHalves(engine: Engine): Promise<string[]> {
    const { deployment } = (await engine.state()) as { deployment: { resources?: readonly StateResource[] } };
    return (deployment.resources ?? [])
        .filter((resource) => resource.delete === true || resource.pendingReplacement === true)
        .map(({ urn }) => urn.split("::").at(-1) ?? "");
}
