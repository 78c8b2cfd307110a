/** Records the states of this release; see README.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Simulation } from "../sim";
import { Engine } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { root } from "../support/root";
import { recordingOf, writeRecording } from "./recording";
import { programOf, type Scene, type SceneName, SCENES, startMachines } from "./scenes";

async function record(pulumi: string, release: string, name: SceneName): Promise<string> {
    const scene: Scene = SCENES[name];
    const sim = await startMachines();
    const engine = await Engine.start(pulumi);
    try {
        await play(scene, sim, engine);
        for (const [resource, status] of Object.entries(scene.status)) {
            const found = (await engine.outputsOf(resource))["status"];
            if (found !== status) throw new Error(`${name}: ${resource} is ${String(found)}, expected ${status}`);
        }
        return writeRecording(recordingOf(sim, release, name, await engine.encryptedState()));
    } finally {
        await engine.close();
        await sim.close();
    }
}

async function play(scene: Scene, sim: Simulation, engine: Engine): Promise<void> {
    for (const name of scene.half) sim.find(name).failing.set("install-service", "no space left on device");
    const up = engine.up(programOf(scene, sim.connectionArgs("c1")));
    await (scene.half.length === 0 ? up : up.then(unexpected, () => undefined));
    if (scene.stopped.length === 0) return;
    for (const name of scene.stopped) sim.find(name).stopService();
    await engine.refresh();
}

function unexpected(): never {
    throw new Error("the machines that fail did not make `up` fail");
}

async function main(): Promise<void> {
    const pulumi = findPulumi();
    if (pulumi === undefined) throw new Error("there is no Pulumi CLI on PATH or in ~/.pulumi");
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    for (const name of Object.keys(SCENES) as SceneName[]) {
        process.stdout.write(`${await record(pulumi, version, name)}\n`);
    }
}

main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
});
