import assert from "node:assert/strict";
import { it } from "mocha";
import type { Deployment, PulumiFn } from "@pulumi/pulumi/automation";
import { MkeControllerNode, type MkeControllerNodeArgs, MkeWorkerNode, type MkeWorkerNodeArgs } from "pulumi-mke";
import { oldHalves } from "./ends";
import { leftOn } from "./machines";
import { describeEngine, type Scene, writesIn } from "./scene";

const NODES = ["c2", "w1"] as const;
const PREFLIGHT = { os: false, minDiskMiB: false } as const;

interface StateResource {
    readonly urn: string;
}

describeEngine("a replacement that only Pulumi wants", (start) => {
    it("of a tainted or targeted node claims the machine anew, and a crash in between is picked up", async () => {
        const scene = await start(["c2", "w1"]);
        const { sim, engine, program } = scene;
        settle(scene);
        const nodes = program(["c2"], ["w1"]);
        await engine.up(nodes);
        const daemons = daemonsOf(scene);
        const before = await tokensOf(scene);
        const old = await engine.state();
        const urns = await Promise.all(NODES.map((name) => engine.urnOf(name)));
        for (const urn of urns) await engine.command("state", "taint", urn, "--yes");
        assert.deepEqual((await engine.up(nodes)).changes, { same: 1, replace: 2 });
        const tainted = await tokensOf(scene);
        assert.ok(tainted.every((token, index) => token !== before[index]));
        // Killed after the creates and before the deletes, the engine leaves this behind.
        await engine.takeOver(withDeletesLeft(await engine.state(), old, urns));
        const began = sim.events.length;
        await engine.up(nodes);
        assert.deepEqual(await oldHalves(engine), []);
        assert.deepEqual(writesIn(sim, began), []);
        await engine.up(nodes, { replace: [urns[1] ?? ""], target: [urns[1] ?? ""] });
        const targeted = await tokensOf(scene);
        assert.deepEqual([targeted[0] === tainted[0], targeted[1] === tainted[1]], [true, false]);
        assert.deepEqual(daemonsOf(scene), daemons);
        await engine.takeOver(withDeletesLeft(await engine.state(), old, urns));
        // Where the old half comes first, the newer one is not known yet.
        await engine.destroy().catch(() => engine.destroy());
        assert.deepEqual(scene.sim.memberNames(), ["c1"]);
        for (const name of NODES) assert.deepEqual(leftOn(sim.find(name)), []);
    });
});

describeEngine("a role or a data directory that changed", (start) => {
    it("takes the node out and joins the machine again", async () => {
        const scene = await start(["c2", "w1"]);
        const { sim, engine } = scene;
        settle(scene);
        await engine.up(different(scene, {}, {}));
        const member = memberId(scene);
        // The controller waits for the worker, which has no mark of the API server it uses while it joins.
        const changed = different(scene, { role: "controller" }, { dataDir: "/srv/k0s" });
        assert.deepEqual((await engine.up(changed)).changes, { same: 1, replace: 2 });
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
        assert.notEqual(memberId(scene), member);
        const { daemon } = sim.find("c2").units;
        assert.ok(daemon !== undefined && sim.find("c2").units.installed?.flag("enable-worker") !== "true");
        assert.equal(sim.find("w1").units.installed?.flag("data-dir"), "/srv/k0s");
        assert.ok(!sim.find("w1").files.exists("/var/lib/k0s/kubelet.conf"));
        assert.deepEqual((await engine.up(changed)).changes, { same: 3 });
        assert.deepEqual(await engine.refresh(), { same: 3 });
    });

    it("is carried on by the next up where the run ended between the halves", async () => {
        const scene = await start(["c2", "w1"]);
        const { sim, engine } = scene;
        settle(scene);
        await engine.up(different(scene, {}, {}));
        const moved = { dataDir: "/srv/k0s" };
        const changed = different(scene, moved, moved);
        // The controller's create fails after its first change, the worker's before it.
        sim.find("c2").failing.set("install-service", "no space left on device");
        const impossible = different(scene, moved, { ...moved, preflight: { ...PREFLIGHT, minCpus: 1000 } });
        await assert.rejects(engine.up(impossible, { continueOnError: true }), /no space left on device/);
        assert.deepEqual(scene.sim.memberNames(), ["c1"]);
        assert.deepEqual(await oldHalves(engine), ["w1"]);
        assert.equal((await engine.outputsOf("c2"))["status"], "joining");
        await engine.refresh();
        sim.find("c2").failing.clear();
        await engine.up(changed);
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
        for (const name of NODES) {
            assert.equal((await engine.outputsOf(name))["status"], "ready");
            assert.equal(sim.find(name).units.installed?.flag("data-dir"), "/srv/k0s");
        }
        assert.deepEqual(await oldHalves(engine), []);
        assert.deepEqual((await engine.up(changed)).changes, { same: 3 });
    });
});

function settle({ sim }: Scene): void {
    sim.addSettled("c2", "controller+worker");
    sim.addSettled("w1", "worker");
}

/** The controller and the worker, each with inputs of its own. */
function different(
    { sim }: Scene,
    controller: Partial<MkeControllerNodeArgs>,
    worker: Partial<MkeWorkerNodeArgs>,
): PulumiFn {
    const argsOf = (name: string): MkeWorkerNodeArgs => ({
        host: sim.find(name).address,
        connection: sim.connectionArgs(name),
        cluster: { controllers: [{ host: sim.find("c1").address }] },
        preflight: PREFLIGHT,
    });
    return () => {
        new MkeControllerNode("c2", { ...argsOf("c2"), ...controller });
        new MkeWorkerNode("w1", { ...argsOf("w1"), ...worker });
        return Promise.resolve();
    };
}

/** The state as after creates whose old halves are still to be deleted. */
function withDeletesLeft(now: Deployment, old: Deployment, urns: readonly string[]): Deployment {
    const left = resourcesIn(old).filter(({ urn }) => urns.includes(urn));
    const resources = [...resourcesIn(now), ...left.map((resource) => ({ ...resource, delete: true }))];
    return { ...now, deployment: { ...(now.deployment as object), resources } };
}

function resourcesIn({ deployment }: Deployment): StateResource[] {
    return (deployment as { readonly resources?: StateResource[] }).resources ?? [];
}

async function tokensOf({ engine }: Scene): Promise<unknown[]> {
    return Promise.all(NODES.map(async (name) => (await engine.outputsOf(name))["token"]));
}

function daemonsOf({ sim }: Scene): unknown[] {
    return NODES.map((name) => sim.find(name).units.daemon?.invocationId);
}

function memberId({ sim }: Scene): bigint | undefined {
    return sim.members().find(({ name }) => name === "c2")?.id;
}
