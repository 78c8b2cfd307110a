import assert from "node:assert/strict";
import { it } from "mocha";
import { MkeControllerNode, type MkeControllerNodeArgs, MkeWorkerNode } from "pulumi-mke";
import { RESOURCES, type SimHost } from "../sim";
import { Cloud, Machine } from "./machines";
import { describeEngine, type Scene } from "./scene";

const BALANCER = "10.77.9.9";
const THROUGH_BALANCER = { spec: { api: { externalAddress: BALANCER } } };
const NAMES = ["one", "two", "three"] as const;

describeEngine("replacing the machines of all controllers in one up", (start) => {
    let cloud: Cloud;

    afterEach(() => cloud.close());

    const startInCloud = async (scene: Scene, onMade?: (scene: Scene) => void): Promise<void> => {
        cloud = await Cloud.start(scene.sim, "c1", () => onMade?.(scene));
    };

    it("goes from three to six and back to three, and loses no worker behind an external address", async () => {
        // What a fresh Node does by itself would look like a worker that was lost.
        const scene = await start(["w1"], { config: THROUGH_BALANCER, wobble: false });
        const { sim, engine } = scene;
        await startInCloud(scene, balanceAll);
        balanceAll(scene);
        await engine.up(program(scene, cloud, "old"));
        const before = scene.sim.memberNames();
        assert.equal(before.length, 3);
        const voters = watchVoters(scene);
        const began = sim.events.length;
        await engine.up(program(scene, cloud, "new"));
        assert.deepEqual(voters, [4, 5, 6, 5, 4, 3]);
        assert.deepEqual(
            scene.sim.memberNames().filter((name) => before.includes(name)),
            [],
        );
        assert.deepEqual(cloud.ended.map(({ name }) => name).sort(), before);
        assert.deepEqual(
            cloud.ended.flatMap(({ left }) => left),
            [],
        );
        const ofWorker = sim.events.slice(began).filter(({ kind, what }) => kind === "node" && what.startsWith("w1 "));
        assert.deepEqual(ofWorker, []);
        assert.deepEqual((await engine.up(program(scene, cloud, "new"))).changes, { same: 8 });
    });

    it("touches no controller that a worker depends on without one", async () => {
        const scene = await start(["w1"]);
        const { sim, engine } = scene;
        await startInCloud(scene);
        await engine.up(program(scene, cloud, "old"));
        const { name, address } = helperOf(scene, "w1");
        await assert.rejects(engine.up(program(scene, cloud, "new")), (error: Error) =>
            error.message.includes(`worker w1 reaches the API through ${address}`),
        );
        assert.ok(scene.sim.memberNames().includes(name));
        assert.equal(sim.find(name).units.installed?.active, "active");
        assert.equal(sim.cluster.store.get(RESOURCES.nodes, name)?.spec?.["unschedulable"], undefined);
        assert.ok(!cloud.ended.some((ended) => ended.name === name));
        // Said only now, to a removal that knows an earlier program.
        await engine.up(program(scene, cloud, "new", { allowStrandedWorkers: true }));
        assert.equal(sim.members().length, 3);
        assert.equal(cloud.ended.length, 3);
    });
});

/** The controller that a worker joined through: the first of the program's that was one by then, on whichever machine it is. */
function helperOf({ sim }: Scene, worker: string): SimHost {
    const server = sim.cluster.store.get(RESOURCES.nodes, worker)?.metadata.annotations?.["pulumi-mke/api-server"];
    const helper = sim.hosts.find(({ address }) => server === `https://${address}:6443`);
    return helper ?? assert.fail(`${worker} depends on ${server}`);
}

/** Hosts and controllers come from the machines and from nowhere else. */
function program(
    { sim }: Scene,
    cloud: Cloud,
    image: string,
    more: Partial<MkeControllerNodeArgs> = {},
): () => Promise<void> {
    return () => {
        const connection = sim.connectionArgs("c1");
        const machines = NAMES.map((name) => new Machine(`machine-${name}`, { cloud: cloud.url, image }));
        const cluster = { controllers: machines.map(({ address }) => ({ host: address, connection })) };
        const args = { connection, cluster, preflight: { os: false, minDiskMiB: false as const } };
        machines.forEach(({ address }, index) => {
            new MkeControllerNode(NAMES[index] ?? "", { ...args, ...more, host: address });
        });
        new MkeWorkerNode("w1", { ...args, host: sim.find("w1").address }, { dependsOn: machines });
        return Promise.resolve();
    };
}

/** How many voters there are after each change, from now on. */
function watchVoters({ sim }: Scene): number[] {
    const sizes = [sim.cluster.etcd.voters.length];
    const seen: number[] = [];
    sim.onEvent(({ kind }) => {
        const { length } = sim.cluster.etcd.voters;
        if (kind !== "etcd" || length === sizes.at(-1)) return;
        sizes.push(length);
        seen.push(length);
    });
    return seen;
}

function balanceAll({ sim }: Scene): void {
    sim.balancer(
        BALANCER,
        sim.hosts.map(({ name }) => name),
    );
}
