import assert from "node:assert/strict";
import { it } from "mocha";
import { type CustomResourceOptions, output } from "@pulumi/pulumi";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import { MkeControllerNode, type MkeControllerNodeArgs } from "pulumi-mke";
import { asProgram, guideProgram } from "./guide-program";
import { Cloud, ec2InstancesOf } from "./machines";
import { describeEngine, type Scene } from "./scene";

const NAMES = ["c1", "c2", "c3"] as const;
/** The addresses of the guide are those of the simulation but for this. */
const [NETWORK, SIMULATED] = ["10.0.1.", "10.77.0."];
const GUIDE = guideProgram("replacing-ec2-controllers", 2).replaceAll(NETWORK, SIMULATED);
const FIXED_HOST = "host: privateIp, triggers: [instance.id]";
const CHAIN = "  before = [node];\n";

describeEngine("replacing machines that keep their addresses, with the program of the guide", (start) => {
    let cloud: Cloud;

    afterEach(() => cloud.close());

    const settled = async (source = GUIDE): Promise<Scene> => {
        const scene = await start(["c2", "c3"]);
        for (const name of ["c2", "c3"]) scene.sim.addSettled(name, "controller+worker");
        cloud = await Cloud.start(scene.sim, "c1");
        await up(scene, source, "old");
        return scene;
    };

    /** As a person who edits the program, sets the image and runs `pulumi up`. */
    const up = async (scene: Scene, source: string, image: string) => {
        await scene.engine.configure({
            "mke:ami": image,
            "mke:subnet": "subnet",
            "mke:privateKey": scene.sim.privateKey,
        });
        return (await scene.engine.up(programOf(scene, cloud, source))).changes;
    };

    it("takes them one after the other, in one up", async () => {
        const scene = await settled();
        const { sim } = scene;
        const before = identities(scene);
        const seen = watch(scene);
        assert.deepEqual(await up(scene, GUIDE, "new"), { same: 1, replace: 6 });
        assert.deepEqual(seen, { voters: [2, 3, 2, 3, 2, 3], mostAway: 1 });
        assert.deepEqual(scene.sim.memberNames(), [...NAMES]);
        assert.deepEqual(
            cloud.ended,
            NAMES.map((name) => ({ name, left: [] })),
        );
        identities(scene).forEach((identity, index) => {
            assert.equal(identity.filter((value) => before[index]?.includes(value)).length, 0);
        });
        assert.equal(sim.world.clusters.length, 1);
        assert.deepEqual(await up(scene, GUIDE, "new"), { same: 7 });
    });

    it("stops after one removal without the chain or without a machine to be had, and goes on after that", async () => {
        const chained = GUIDE.replace(FIXED_HOST, "host: instance.privateIp");
        assert.notEqual(chained, GUIDE);
        const scene = await settled(chained);
        const { sim } = scene;
        assert.ok(chained.includes(CHAIN));
        const seen = watch(scene);
        // A removal that begins late finds the one before back already. How far that gets is not said without the chain.
        const refusal = await up(scene, chained.replace(CHAIN, ""), "new").then(
            () => undefined,
            (error: unknown) => String(error),
        );
        if (refusal !== undefined) assert.match(refusal, /fewer than cluster\.minControllers \(2\)/);
        assert.equal(seen.mostAway, 1);
        // It may be the last of the chain that is away, and the first one may not go before it is back.
        await up(scene, chained, "old");
        assert.deepEqual(scene.sim.memberNames(), [...NAMES]);
        cloud.isFull = true;
        await assert.rejects(up(scene, chained, "new"), /no capacity/);
        assert.equal(sim.members().length, 2);
        cloud.isFull = false;
        await up(scene, chained, "new");
        assert.equal(seen.mostAway, 1);
        assert.deepEqual(scene.sim.memberNames(), [...NAMES]);
        assert.deepEqual(
            cloud.ended.flatMap(({ left }) => left),
            [],
        );
    });

    it("stops after one removal where a node's inputs come from the one before", async () => {
        const cascade = GUIDE.replace("[instance.id]", "[instance.id, ...before.map(({ id }) => id)]");
        assert.notEqual(cascade, GUIDE);
        const scene = await settled(cascade);
        const seen = watch(scene);
        // The engine takes out all that depend on the first, the last one first, before it makes any.
        await assert.rejects(up(scene, cascade, "new"), /fewer than cluster\.minControllers \(2\)/);
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
        assert.deepEqual(cloud.ended, []);
        await up(scene, cascade, "old");
        assert.deepEqual(scene.sim.memberNames(), [...NAMES]);
        assert.equal(seen.mostAway, 1);
    });
});

/** The page's own program, with instances of that cloud, and nodes that are logged in to as the simulation wants. */
function programOf({ sim }: Scene, cloud: Cloud, source: string): PulumiFn {
    class Node extends MkeControllerNode {
        constructor(name: string, args: MkeControllerNodeArgs, options?: CustomResourceOptions) {
            const connection = sim.connectionArgs("c1");
            const controllers = NAMES.map((controller) => ({ host: sim.find(controller).address, connection }));
            const cluster = output(args.cluster).apply((given) => ({ ...given, controllers }));
            super(name, { ...args, cluster, connection, preflight: { os: false, minDiskMiB: false } }, options);
        }
    }
    return asProgram(source, {
        "@pulumi/aws": { ec2: { Instance: ec2InstancesOf(cloud.url) } },
        "pulumi-mke": { MkeControllerNode: Node },
    });
}

/** What a machine and its member are known by. */
function identities({ sim }: Scene): (string | undefined)[][] {
    return NAMES.map((name) => {
        const { hostKey, machineId } = sim.find(name);
        return [
            hostKey,
            machineId,
            sim
                .members()
                .find((member) => member.name === name)
                ?.id.toString(16),
        ];
    });
}

/** From now on: how many voters there are after each change, and how many machines were without k0s at once at most. */
function watch({ sim }: Scene): { readonly voters: number[]; mostAway: number } {
    const seen = { voters: [] as number[], mostAway: 0 };
    let last = sim.cluster.etcd.voters.length;
    sim.onEvent(() => {
        const { length } = sim.cluster.etcd.voters;
        if (length !== last) seen.voters.push(length);
        last = length;
        const away = NAMES.filter((name) => sim.find(name).units.installed?.active !== "active");
        seen.mostAway = Math.max(seen.mostAway, away.length);
    });
    return seen;
}
