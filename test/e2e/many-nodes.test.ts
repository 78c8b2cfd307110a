import assert from "node:assert/strict";
import { it } from "mocha";
import { MkeControllerNode, type MkeControllerNodeArgs, MkeWorkerNode } from "pulumi-mke";
import { RESOURCES } from "../sim";
import { leftOn } from "./machines";
import { LOOKING } from "../support/looking";
import { describeEngine, type Scene } from "./scene";

const CONTROLLERS = ["c1", "c2", "c3"];
const WORKERS = Array.from({ length: 20 }, (_, index) => `w${index + 1}`);

/** What the simulation finds where the last controller has gone. */
const THE_END = /no quorum|is a ghost/;

describeEngine(
    "three controllers and twenty workers",
    (start) => {
        it("join in one up, workers side by side, and go in one destroy, with the cluster only where that is asked for", async () => {
            const scene = await start(["c2", "c3", ...WORKERS]);
            const { sim, engine, program } = scene;
            // As many at a time as on a machine with two cores, wherever this runs.
            await engine.up(program(CONTROLLERS, WORKERS), { parallel: 8 });
            assert.deepEqual(scene.sim.memberNames(), CONTROLLERS);
            assert.ok(atOnce(scene, WORKERS) > 1, "workers join side by side");
            assert.equal(atOnce(scene, CONTROLLERS, 0, ON_ITS_OWN), 1);
            assert.deepEqual(await engine.refresh(), { same: 1 + CONTROLLERS.length + WORKERS.length });

            const began = sim.events.length;
            // All at once: no controller begins when the workers have gone already.
            await assert.rejects(engine.destroy({ parallel: CONTROLLERS.length + WORKERS.length }), /onLastController/);
            const [left = "", ...others] = scene.sim.memberNames();
            assert.deepEqual(others, []);
            assert.deepEqual(await engine.names("mke:ControllerNode"), [left]);
            assert.deepEqual(await engine.names("mke:WorkerNode"), []);
            const gone = [...CONTROLLERS, ...WORKERS].filter((name) => name !== left);
            for (const name of gone) assert.deepEqual(leftOn(sim.find(name)), []);
            assert.deepEqual(namesOfNodes(scene), [left]);
            assert.ok(atOnce(scene, WORKERS, began) > 1, "workers leave side by side");
            assert.equal(atOnce(scene, CONTROLLERS, began, ON_ITS_OWN), 1);
            const firstLeave = sim.events.findIndex(({ kind }, at) => at >= began && kind === "etcd");
            const later = sim.events
                .slice(firstLeave)
                .filter(({ kind, what }) => kind === "node" && /^w.* deleted$/.test(what));
            assert.deepEqual(later, [], "no controller leaves before the workers are gone");
            assert.match(engine.output.join(""), /c\d: waiting for what this run does on w\d+/);
            assert.deepEqual(await engine.refresh(), { same: 2 });

            await engine.up(program([left], [], { onLastController: "reset" }));
            sim.assertInvariants();
            await engine.destroy();
            for (const { name } of sim.hosts) assert.deepEqual(leftOn(sim.find(name)), []);
            assert.deepEqual(await engine.names("mke:ControllerNode"), []);
        });

        it("go with the cluster in one destroy, also where few of them may go at a time", async () => {
            const scene = await start(["c2", "c3", "w1", "w2", "w3"]);
            const { sim, engine, program } = scene;
            for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
            for (const name of ["w1", "w2", "w3"]) sim.addSettled(name, "worker");
            const controllers = program(CONTROLLERS, [], { onLastController: "reset" });
            const workers = program([], ["w1", "w2", "w3"]);
            await engine.up(() => Promise.all([controllers(), workers()]).then(() => undefined));
            await engine.destroy({ parallel: CONTROLLERS.length + 1 });
            for (const { name } of sim.hosts) assert.deepEqual(leftOn(sim.find(name)), []);
        });

        it("leave a worker that the cluster did not know any more to be reset after its end", async () => {
            const scene = await start(["w1"]);
            const { sim, engine } = scene;
            sim.addSettled("w1", "worker");
            await engine.up(() => {
                const w1 = new MkeWorkerNode("w1", argsOf(scene, "w1"));
                new MkeControllerNode("c1", { ...argsOf(scene, "c1"), onLastController: "reset" }, { dependsOn: w1 });
                return Promise.resolve();
            });
            await assert.rejects(engine.destroy(), /other Nodes still exist: w1/);
            sim.assertInvariants();
            assert.deepEqual(await engine.names("Node"), ["c1", "w1"]);
            // By hand, as `kubectl delete node` does; its kubelet does not register again.
            sim.cluster.store.delete(RESOURCES.nodes, "w1");
            await engine.destroy();
            assert.match(engine.output.join(""), /w1: its cluster has ended: only the machine is reset/);
            for (const { name } of sim.hosts) assert.deepEqual(leftOn(sim.find(name)), []);
        });
    },
    THE_END,
);

function argsOf({ sim }: Scene, name: string): MkeControllerNodeArgs {
    const { address } = sim.find(name);
    const controllers = [{ host: sim.find("c1").address, connection: sim.connectionArgs("c1") }];
    return {
        host: address,
        connection: sim.connectionArgs(name),
        cluster: { controllers },
        preflight: { os: false, minDiskMiB: false },
    };
}

function namesOfNodes({ sim }: Scene): string[] {
    return sim.cluster.store.list(RESOURCES.nodes).map(({ metadata }) => metadata.name);
}

/** Programs that change a controller that comes or goes; others also run on the one that helps. */
const ON_ITS_OWN = /^(install-service|service|reset|clean-up)$/;

/** How many of these hosts were between their first change and their last, at most. `since`: an earlier number of events. */
function atOnce({ sim }: Scene, names: readonly string[], since = 0, programs = /./): number {
    const changes = sim.events.map(({ kind, what, host = "" }, at) => {
        const isChange = at >= since && kind === "program" && !LOOKING.has(what) && programs.test(what);
        return isChange ? host : "";
    });
    const spans = names
        .map((name) => [changes.indexOf(name), changes.lastIndexOf(name)] as const)
        .filter(([begin]) => begin !== -1);
    return Math.max(...spans.map(([begin]) => spans.filter(([from, to]) => from <= begin && begin <= to).length));
}
