import type { PulumiFn } from "@pulumi/pulumi/automation";
import { MkeControllerNode, type MkeControllerNodeArgs, MkeWorkerNode, type MkeWorkerNodeArgs } from "pulumi-mke";
import { before, describe } from "mocha";
import { type K0sConfig, RESOURCES, type Simulation, startSimulation } from "../sim";
import { Engine, type EngineOptions } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { LOOKING } from "../support/looking";
import { skipWithout } from "../support/real-parts";

/** Of one test: many times what it takes on an idle machine, because nothing here hangs by being slow. */
export const TIME_LIMIT = "15m";

/** Of what the engine printed, where a test fails. */
const LINES_SHOWN = 60;

export interface Scene {
    readonly sim: Simulation;
    readonly engine: Engine;
    /** Registers these hosts as nodes, by their names in the simulation. */
    readonly program: (
        controllers: readonly string[],
        workers?: readonly string[],
        more?: Partial<MkeControllerNodeArgs>,
    ) => PulumiFn;
    close(): Promise<void>;
}

export interface SceneOptions {
    /** Simulated seconds for one real second. */
    readonly speed?: number;
    readonly engine?: EngineOptions;
    /** k0s.yaml of the first controller. */
    readonly config?: K0sConfig;
    /** As in the simulation; default true. */
    readonly wobble?: boolean;
}

type Start = (blank: readonly string[], options?: SceneOptions) => Promise<Scene>;

/**
 * Tests with the real engine, left out where there is none. Each starts at most one scene, which ends with it; `except`:
 * what the simulation's invariants may find there.
 */
export function describeEngine(title: string, tests: (start: Start) => void, except?: RegExp): void {
    const pulumi = findPulumi() ?? "";
    describe(title, function () {
        this.timeout(TIME_LIMIT);
        let scene: Scene | undefined;

        before(function () {
            skipWithout(this, "pulumi");
        });
        afterEach(async function () {
            const ended = scene;
            scene = undefined;
            if (this.currentTest?.state === "failed") console.log(ended?.engine.output.slice(-LINES_SHOWN).join(""));
            await ended?.close();
            ended?.sim.assertInvariants(except);
        });

        tests(async (blank, options) => (scene = await startScene(pulumi, blank, options)));
    });
}

/** As a person at the machine: k0s stopped and reset. */
export function resetByHand({ sim }: Pick<Scene, "sim">, name: string): void {
    const host = sim.find(name);
    const unit = host.units.installed;
    host.stopService();
    sim.world.act(() => {
        if (unit !== undefined) host.units.remove(unit.name);
        for (const folder of ["/var/lib/k0s", "/run/k0s"]) host.files.removeTree(folder);
    });
}

/** What the Node of that name says of itself, and has said for long. */
export function setReady({ sim }: Pick<Scene, "sim">, name: string, status: "True" | "False"): void {
    const lastTransitionTime = new Date(Date.now() - 120_000).toISOString().replace(/\.\d+Z$/, "Z");
    sim.world.act(() =>
        sim.cluster.store.update(RESOURCES.nodes, name, (node) => {
            node.status = { ...node.status, conditions: [{ type: "Ready", status, lastTransitionTime }] };
        }),
    );
}

/** A simulated cluster of one controller, blank machines beside it, and a stack of the real engine. */
export async function startScene(pulumi: string, blank: readonly string[], options: SceneOptions = {}): Promise<Scene> {
    const sim = await startSimulation({ speed: options.speed ?? 30, wobble: options.wobble ?? true });
    ["c1", ...blank].forEach((name, index) => sim.host(name, { address: `10.77.0.${11 + index}` }));
    sim.bootstrapController("c1", options.config);
    const engine = await Engine.start(pulumi, options.engine);
    return {
        sim,
        engine,
        program: (controllers, workers = [], more = {}) => programOf(sim, controllers, workers, more),
        close: async () => {
            await engine.close();
            await sim.close();
        },
    };
}

function programOf(
    sim: Simulation,
    controllers: readonly string[],
    workers: readonly string[],
    more: Partial<MkeControllerNodeArgs>,
): PulumiFn {
    const argsOf = (name: string): MkeWorkerNodeArgs => ({
        host: sim.find(name).address,
        connection: sim.connectionArgs(name),
        cluster: { controllers: ["c1", "c2", "c3"].flatMap((helper) => addressOf(sim, helper)) },
        preflight: { os: false, minDiskMiB: false },
        ...more,
    });
    return () => {
        for (const name of controllers) new MkeControllerNode(name, argsOf(name));
        for (const name of workers) new MkeWorkerNode(name, argsOf(name));
        return Promise.resolve();
    };
}

function addressOf(
    sim: Simulation,
    name: string,
): { host: string; connection: ReturnType<Simulation["connectionArgs"]> }[] {
    const known = sim.hosts.some((host) => host.name === name);
    return known ? [{ host: sim.find(name).address, connection: sim.connectionArgs(name) }] : [];
}

/** Programs that changed something on a host, as `host: program`. */
export function writesIn(sim: Simulation, since = 0): string[] {
    return sim.events
        .slice(since)
        .filter(({ kind, what }) => kind === "program" && !LOOKING.has(what))
        .map(({ host, what }) => `${host ?? ""}: ${what}`);
}

/** Programs that changed something on that host. `since`: an earlier length of `sim.events`. */
export function writesOn(sim: Simulation, name: string, since = 0): string[] {
    return writesIn(sim, since).filter((write) => write.startsWith(`${name}: `));
}
