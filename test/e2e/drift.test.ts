import assert from "node:assert/strict";
import { it } from "mocha";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import type { MkeControllerNodeArgs } from "pulumi-mke";
import { RESOURCES, TIMING } from "../sim";
import { settle } from "../sim/scene";
import { describeEngine, resetByHand, type Scene, setReady } from "./scene";

const CONTROLLERS = ["c2", "c3"] as const;
const WORKERS = ["w1", "w2", "w3"] as const;
const LABELS = { zone: "a" };
/** A node that does not become Ready, and a host that does not answer, are waited for. */
const BRIEF = { connect: 20, ready: 20 };

type Name = (typeof CONTROLLERS)[number] | (typeof WORKERS)[number];

/** What happens to one node, and what a refresh says of it. */
interface Drift {
    readonly happens: (scene: Scene) => unknown;
    readonly drift: string;
    /** Default: `degraded`. */
    readonly status?: string;
    /** The output `state` says so, because the next `up` takes the node out and adds it again. */
    readonly rebuild?: boolean;
    /** For drift that the next `up` does not repair: what its error says. */
    readonly error?: RegExp;
}

const REPAIRED: Readonly<Record<Name, Drift>> = {
    c2: {
        happens: (scene) => resetByHand(scene, "c2"),
        drift: "k0s is not installed as a service",
        rebuild: true,
    },
    c3: {
        happens: ({ sim }) => sim.find("c3").stopService(),
        drift: "k0scontroller is not running",
    },
    w1: {
        happens: ({ sim }) => sim.world.act(() => sim.cluster.store.delete(RESOURCES.nodes, "w1")),
        drift: "Node w1 is not registered",
    },
    w2: {
        happens: (scene) => resetByHand(scene, "w2"),
        drift: "k0s is not installed as a service",
        rebuild: true,
    },
    w3: {
        happens: (scene) => labelByHand(scene, "w3"),
        drift: 'label zone of Node w3 is "b", not "a"',
    },
};

const NOT_REPAIRED: Readonly<Partial<Record<Name, Drift>>> = {
    c3: {
        happens: removeFromOutside,
        drift: "it was removed from etcd by somebody else, and its EtcdMember object is out of date",
        error: /runbook\.md#removed-out-of-band/,
    },
    w1: {
        happens: (scene) => setReady(scene, "w1", "False"),
        drift: "Node w1 is NotReady",
        error: /Node w1/,
    },
    w2: {
        happens: ({ sim }) => sim.find("w2").powerOff(),
        drift: "the host does not answer by SSH",
        status: "unreachable",
        error: /10\.77\.0\.15/,
    },
    w3: {
        happens: joinAnotherCluster,
        drift: "the host belongs to another cluster",
        error: /runbook\.md#foreign-cluster/,
    },
};

describeEngine("drift that up repairs", (start) => {
    it("is shown once on refresh, and gone after the next up; labels of others stay", async () => {
        const scene = await start([...CONTROLLERS, ...WORKERS]);
        const { sim, engine } = scene;
        const program = await settled(scene);
        // One at a time: two controllers that are down at once would be the end of the quorum.
        for (const names of [["c2"], ["c3", "w1", "w2", "w3"]] as const) {
            await happenTo(scene, REPAIRED, names);
            await engine.up(program);
            for (const name of names) {
                const { drift, status } = await engine.outputsOf(name);
                assert.deepEqual([name, drift, status], [name, [], "ready"]);
                assert.equal(sim.find(name).units.installed?.active, "active");
            }
            assert.deepEqual(await engine.refresh(), { same: 1 + CONTROLLERS.length + WORKERS.length });
        }
        const { labels } = sim.cluster.store.get(RESOURCES.nodes, "w3")?.metadata ?? {};
        assert.deepEqual([labels?.["zone"], labels?.["theirs"]], ["a", "x"]);
    });
});

describeEngine(
    "drift that a person must look at",
    (start) => {
        it("is shown once on refresh, is an error of the next up, and keeps the resource", async () => {
            const scene = await start([...CONTROLLERS, ...WORKERS]);
            const { sim, engine } = scene;
            const program = await settled(scene);
            const names = ["c3", "w1", "w2", "w3"] as const;
            await happenTo(scene, NOT_REPAIRED, names);
            const failure = await engine.up(program, { continueOnError: true }).then(
                () => "",
                (error: unknown) => String(error),
            );
            for (const name of names) assert.match(failure, NOT_REPAIRED[name]?.error ?? /^$/);
            setReady(scene, "w1", "True");
            sim.find("w2").powerOn();
            await engine.up(program, { continueOnError: true }).catch(() => undefined);
            for (const name of ["w1", "w2"]) assert.equal((await engine.outputsOf(name))["status"], "ready");
        });
    },
    /EtcdMember c3 is of no member|there are 2 clusters/,
);

describeEngine(
    "drift that is gone again",
    (start) => {
        it("lets up leave a node alone that was repaired by hand in the morning", async () => {
            const scene = await start([...CONTROLLERS, ...WORKERS]);
            const { sim, engine } = scene;
            const program = await settled(scene);
            sim.find("c3").stopService();
            await engine.refresh();
            sim.find("c3").startService();
            await sim.until("c3 is back", () =>
                sim.cluster.etcd.voters.every(({ id }) => sim.cluster.etcd.isAlive(id)),
            );
            const { daemon } = sim.find("c3").units;
            await engine.up(program);
            assert.equal(sim.find("c3").units.daemon, daemon);
            assert.equal((await engine.outputsOf("c3"))["status"], "ready");
        });

        it("is none where only a controller is down that helps, and others are named", async () => {
            const scene = await start([...CONTROLLERS, "w1"]);
            const { sim, engine } = scene;
            for (const name of CONTROLLERS) sim.addSettled(name, "controller+worker");
            sim.addSettled("w1", "worker");
            const program = scene.program([], ["w1"]);
            await engine.up(program);
            sim.find("c1").powerOff();
            await sim.until("the others go on", () => sim.cluster.etcd.leaderId !== undefined);
            assert.deepEqual(await engine.refresh(), { same: 2 });
            assert.deepEqual((await engine.up(program)).changes, { same: 2 });
            assert.equal((await engine.outputsOf("w1"))["status"], "ready");
            sim.find("c1").powerOn();
            await sim.until("c1 is back", () => sim.cluster.daemons.size === 3);
        });

        it("is what a refresh finds while no controller answers that the node knows", async () => {
            const scene = await start(["w1"]);
            const { sim, engine } = scene;
            sim.addSettled("w1", "worker");
            const program = scene.program([], ["w1"], { timeouts: BRIEF });
            await engine.up(program);
            sim.find("c1").powerOff();
            await engine.refresh();
            const found = await engine.outputsOf("w1");
            const { status, drift } = found;
            assert.deepEqual([status, drift], ["unreachable", ["the host or its cluster could not be checked"]]);
            sim.find("c1").powerOn();
            await sim.until("the API is back", () => sim.cluster.etcd.works);
            await engine.up(program);
            assert.equal((await engine.outputsOf("w1"))["status"], "ready");
        });
    },
    /etcd had no quorum/,
);

/** Adopted as they are, which takes less time than joining. */
async function settled(scene: Scene): Promise<PulumiFn> {
    const { sim, engine } = scene;
    for (const name of CONTROLLERS) sim.addSettled(name, "controller+worker");
    for (const name of WORKERS) sim.addSettled(name, "worker");
    const more: Partial<MkeControllerNodeArgs> = { labels: LABELS, timeouts: BRIEF };
    const program = scene.program(CONTROLLERS, WORKERS, more);
    await engine.up(program);
    return program;
}

async function happenTo(
    scene: Scene,
    all: Readonly<Partial<Record<Name, Drift>>>,
    names: readonly Name[],
): Promise<void> {
    const { engine } = scene;
    for (const name of names) await all[name]?.happens(scene);
    await engine.refresh();
    const found = await Promise.all(names.map((name) => engine.outputsOf(name)));
    const expected = names.map((name) => {
        const { drift = "", status = "degraded", rebuild = false } = all[name] ?? {};
        return [name, status, [drift], rebuild ? `rebuild: ${drift}` : drift];
    });
    assert.deepEqual(
        found.map(({ nodeName, status, drift, state }) => [nodeName, status, drift, state]),
        expected,
    );
    await engine.refresh();
    assert.deepEqual(await Promise.all(names.map((name) => engine.outputsOf(name))), found);
}

function labelByHand({ sim }: Scene, name: string): void {
    sim.world.act(() =>
        sim.cluster.store.update(RESOURCES.nodes, name, ({ metadata }) => {
            metadata.labels = { ...metadata.labels, zone: "b", theirs: "x" };
        }),
    );
}

/** Long enough ago to be more than the wobble of a fresh Node. */
async function removeFromOutside({ sim }: Scene): Promise<void> {
    sim.removeMemberFromOutside(sim.members().find(({ name }) => name === "c3")?.id ?? 0n);
    const end = sim.now + TIMING.resync * 3;
    await sim.until("the EtcdMember says so", () => sim.now > end);
}

function joinAnotherCluster(scene: Scene): void {
    const { sim } = scene;
    resetByHand(scene, "w3");
    sim.host("x1", { address: "10.77.2.1" });
    const other = sim.bootstrapController("x1");
    sim.world.act(() => settle(sim.find("w3"), "worker", other, {}));
}
