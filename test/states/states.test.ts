import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "@pulumi/pulumi/automation";
import { afterEach, describe, it } from "mocha";
import type { Simulation } from "../sim";
import { Engine } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { TIME_LIMIT } from "../e2e/scene";
import { root } from "../support/root";
import { fit, outputsIn } from "./fit";
import { memberIds, readRecording, type Recording, releases } from "./recording";
import { programOf, type Scene, type SceneName, SCENES, startMachines } from "./scenes";

const pulumi = findPulumi();
if (pulumi === undefined) {
    console.log("tests of recorded states: left out, there is no Pulumi CLI on PATH or in ~/.pulumi");
} else {
    for (const release of releases()) {
        describe(`the state of release ${release}`, function () {
            this.timeout(TIME_LIMIT);
            let engine: Engine | undefined;
            let sim: Simulation | undefined;

            afterEach(async () => {
                await engine?.close();
                await sim?.close();
                engine = sim = undefined;
            });

            /** As it was recorded, secrets and all. Answers it decrypted. */
            const takeOver = async (recording: Recording): Promise<Deployment> => {
                engine = await Engine.start(pulumi);
                await engine.takeOver(recording.state);
                return engine.state();
            };

            /** On machines and a cluster as they were, with the login and the identity of today's simulation. */
            const setUp = async (name: SceneName) => {
                const recording = readRecording(release, name);
                const state = await takeOver(recording);
                const ids = Object.entries(recording.machines).map(([host, { machineId }]) => [host, machineId]);
                const started = (sim = await startMachines(Object.fromEntries(ids) as Record<string, string>));
                await engine?.takeOver(fit(started, recording, state));
                for (const stopped of SCENES[name].stopped) started.find(stopped).stopService();
                const login = started.connectionArgs("c1");
                return { sim: started, engine: engine ?? assert.fail(), program: programOf(SCENES[name], login) };
            };

            const sceneNames = (Object.keys(SCENES) as SceneName[]).filter((name) =>
                existsSync(join(root, "test/states", release, `${name}.json`)),
            );
            for (const name of sceneNames) {
                const scene: Scene = SCENES[name];
                const troubled = Object.values(scene.status).filter((status) => status !== "ready").length;
                const resources = scene.controllers.length + scene.workers.length;

                it(`is no reason to touch a node that is ready (${name})`, async () => {
                    const state = await takeOver(readRecording(release, name));
                    for (const [resource, status] of Object.entries(scene.status)) {
                        assert.equal(outputsIn(state, resource)["status"], status);
                    }
                    const { connection } = outputsIn(state, "c1");
                    const changes = await engine?.preview(programOf(scene, connection));
                    const update = troubled === 0 ? {} : { update: troubled };
                    assert.deepEqual(changes, { same: 1 + resources - troubled, ...update });
                });

                it(`can be refreshed, which finds what was there, and destroyed (${name})`, async () => {
                    const { sim, engine } = await setUp(name);
                    const found = () => Promise.all(Object.keys(scene.status).map((each) => engine.outputsOf(each)));
                    const before = await found();
                    // Pulumi counts a node with drift as an update, also where nothing new was found.
                    const update = troubled === 0 ? {} : { update: troubled };
                    assert.deepEqual(await engine.refresh(), { same: 1 + resources - troubled, ...update });
                    assert.deepEqual(await found(), before);
                    await engine.destroy();
                    for (const host of sim.hosts) {
                        assert.equal(host.units.installed, undefined, `${host.name} still runs k0s`);
                        for (const path of ["/etc/pulumi-mke", "/etc/k0s", "/var/lib/k0s"]) {
                            assert.ok(!host.files.exists(path), `${path} is left on ${host.name}`);
                        }
                    }
                });

                if (troubled === 0) continue;
                it(`is brought to ready by the next up (${name})`, async () => {
                    const { sim, engine, program } = await setUp(name);
                    assert.equal((await engine.up(program)).changes["update"], troubled);
                    for (const resource of Object.keys(scene.status)) {
                        assert.equal((await engine.outputsOf(resource))["status"], "ready");
                        assert.equal(sim.find(resource).units.installed?.active, "active");
                    }
                    assert.deepEqual(Object.keys(memberIds(sim)).sort(), [...scene.controllers]);
                    sim.assertInvariants();
                });
            }
        });
    }
}
