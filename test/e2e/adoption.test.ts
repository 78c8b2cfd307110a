import assert from "node:assert/strict";
import { it } from "mocha";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import { MkeControllerNode, type MkeControllerNodeArgs, MkeWorkerNode, type MkeWorkerNodeArgs } from "pulumi-mke";
import { RESOURCES } from "../sim";
import { Engine } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { leftOn } from "./machines";
import { describeEngine, type Scene, writesIn, writesOn } from "./scene";

const OUR_MARKER = "/etc/pulumi-mke/node.json";
const CONTROLLERS = ["c1", "c2", "c3"] as const;

describeEngine("a cluster that is there already", (start) => {
    it("is adopted as it is, and its nodes are ours from then on", async () => {
        const scene = await start(["c2", "c3", "p1", "w1", "w2"]);
        const { sim, engine } = scene;
        settleByOthers(scene);
        const before = inventory(scene);
        const objects = objectsIn(scene);
        const adopted = await engine.up(described(scene));
        assert.equal(adopted.changes["create"], 7);
        assert.deepEqual(
            writesIn(sim).sort(),
            sim.hosts.map(({ name }) => `${name}: write-file`),
        );
        assert.deepEqual(inventory(scene), before);
        assert.deepEqual(objectsIn(scene), objects);
        for (const name of resourceNames(scene)) {
            const { status, drift } = await engine.outputsOf(name);
            assert.deepEqual([name, status, drift], [name, "ready", []]);
        }
        assert.equal((await engine.outputsOf("node-w2"))["nodeName"], "worker-7");
        const began = sim.events.length;
        assert.deepEqual((await engine.up(described(scene))).changes, { same: 7 });
        assert.deepEqual(await engine.refresh(), { same: 7 });
        assert.deepEqual(writesIn(sim, began), []);
        await engine.up(described(scene, ["w2", "p1"]));
        assert.deepEqual(scene.sim.memberNames(), [...CONTROLLERS]);
        for (const name of ["w2", "p1"]) assert.deepEqual(leftOn(sim.find(name)), []);
        assert.equal(sim.cluster.store.get(RESOURCES.nodes, "worker-7"), undefined);
    });

    it("is not touched where the program is wrong about a node", async () => {
        const scene = await start(["p1", "w1", "w2"]);
        const { sim, engine } = scene;
        sim.addSettled("p1", "controller");
        sim.addSettled("w1", "worker");
        sim.addSettled("w2", "worker", {}, ["--kubelet-extra-args=--hostname-override=worker-7"]);
        const before = inventory(scene);
        const program: PulumiFn = () => {
            new MkeControllerNode("kubelet-on-p1", argsOf(scene, "p1"));
            new MkeWorkerNode("never", { ...argsOf(scene, "w1"), adopt: "never" });
            new MkeWorkerNode("unnamed", argsOf(scene, "w2"));
            return Promise.resolve();
        };
        const failure = await engine.up(program, { continueOnError: true }).then(() => "", String);
        assert.match(failure, /the resource is a controller\+worker, the host is not[^]*runbook\.md#wrong-role/);
        assert.match(failure, /it carries no mark of an owner, and adopt is never/);
        assert.match(failure, /this machine is Node worker-7, not w2[^]*nodeName: "worker-7"/);
        assert.deepEqual(writesIn(sim), []);
        assert.deepEqual(inventory(scene), before);
    });
});

describeEngine("a node of another stack", (start) => {
    it("is refused, or taken over where the program says so, and the other stack leaves it alone then", async () => {
        const scene = await start(["c2", "w1"]);
        const { sim, engine, program } = scene;
        sim.addSettled("c2", "controller+worker");
        sim.addSettled("w1", "worker");
        const other = await Engine.start(findPulumi() ?? "", { name: "other" });
        try {
            await other.up(program(["c2"], ["w1"]));
            const daemons = daemonsOf(scene);
            const began = sim.events.length;
            await assert.rejects(
                engine.up(program(["c2"], ["w1"]), { continueOnError: true }),
                /it belongs to organization\/mke\/other\/c2, and adopt is unmarked[^]*runbook\.md#other-owner/,
            );
            assert.deepEqual(writesIn(sim, began), []);
            await engine.up(program(["c2"], ["w1"], { adopt: "takeOver" }));
            assert.deepEqual(writesIn(sim, began).sort(), ["c2: write-file", "w1: write-file"]);
            await other.refresh();
            for (const name of ["c2", "w1"]) {
                const { status, drift } = await other.outputsOf(name);
                assert.equal(status, "degraded");
                assert.match(String(drift), /organization\/mke\/test\/(c2|w1)/);
            }
            const taken = sim.events.length;
            await assert.rejects(other.destroy(), /organization\/mke\/test\/(c2|w1)[^]*runbook\.md#other-owner/);
            await assert.rejects(other.up(program(["c2"], ["w1"])), /organization\/mke\/test\/(c2|w1)/);
            assert.deepEqual(writesIn(sim, taken), []);
            assert.deepEqual(daemonsOf(scene), daemons);
            assert.deepEqual(await engine.refresh(), { same: 3 });
            await engine.up(program([], ["w1"]));
            assert.deepEqual(scene.sim.memberNames(), ["c1"]);
            assert.notDeepEqual(writesOn(sim, "c2", taken), []);
        } finally {
            await other.close();
        }
    });
});

/** As others made it, with things on it that the program does not name. */
function settleByOthers({ sim }: Scene): void {
    sim.addSettled("c2", "controller+worker", {}, ["--labels=rack=r2", "--no-taints=true"]);
    sim.addSettled("c3", "controller+worker", {}, ["--disable-components=metrics-server"]);
    sim.addSettled("p1", "controller");
    sim.addSettled("w1", "worker", {}, ["--labels=zone=b", "--taints=gpu=yes:NoSchedule", "--debug=true"]);
    sim.addSettled("w2", "worker", {}, ["--kubelet-extra-args=--hostname-override=worker-7"]);
    for (const { files } of sim.hosts) files.write("/etc/theirs.conf", "kept\n");
    sim.world.act(() => {
        sim.cluster.store.update(RESOURCES.nodes, "w1", ({ metadata }) => {
            metadata.labels = { ...metadata.labels, theirs: "x" };
            metadata.annotations = { ...metadata.annotations, "example.com/theirs": "y" };
        });
    });
}

function argsOf({ sim }: Scene, name: string): MkeWorkerNodeArgs {
    return {
        host: sim.find(name).address,
        connection: sim.connectionArgs(name),
        cluster: {
            controllers: CONTROLLERS.filter((helper) => sim.hosts.some((host) => host.name === helper)).map(
                (helper) => ({ host: sim.find(helper).address, connection: sim.connectionArgs(helper) }),
            ),
        },
    };
}

function described(scene: Scene, without: readonly string[] = []): PulumiFn {
    return () => {
        for (const { name } of scene.sim.hosts.filter((host) => !without.includes(host.name))) {
            const role: Partial<MkeControllerNodeArgs> = name === "p1" ? { role: "controller" } : {};
            if (!name.startsWith("w")) new MkeControllerNode(`node-${name}`, { ...argsOf(scene, name), ...role });
            else if (name === "w2") new MkeWorkerNode("node-w2", { ...argsOf(scene, name), nodeName: "worker-7" });
            else new MkeWorkerNode(`node-${name}`, argsOf(scene, name));
        }
        return Promise.resolve();
    };
}

function resourceNames({ sim }: Scene): string[] {
    return sim.hosts.map(({ name }) => `node-${name}`);
}

function daemonsOf({ sim }: Scene): unknown[] {
    return sim.hosts.map(({ units }) => units.daemon?.invocationId);
}

/** Everything on every host but our marker, and the process that runs. */
function inventory(scene: Scene): unknown[] {
    const { sim } = scene;
    const files = sim.hosts.map(({ name, files }) => [
        name,
        files.inventory().filter((line) => !line.startsWith(OUR_MARKER) && line !== "/etc/pulumi-mke/"),
    ]);
    return [...files, ...daemonsOf(scene)];
}

/** What the cluster holds, but for locks and for our annotations. */
function objectsIn({ sim }: Scene): unknown[] {
    const kinds = [RESOURCES.nodes, RESOURCES.etcdMembers, RESOURCES.controlNodes];
    return kinds
        .flatMap((kind) => sim.cluster.store.list(kind))
        .map(({ kind, metadata: { name, labels, annotations, finalizers }, spec }) => {
            const theirs = Object.entries(annotations ?? {}).filter(([key]) => !key.includes("pulumi-mke"));
            return { kind, name, labels, theirs, finalizers, spec };
        });
}
