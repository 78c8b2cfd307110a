import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller } from "../../provider";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES } from "../sim";
import { impatientLocks, killed, Watch, World } from "../support/interruption";

describe("a worker's join that was killed, and whose controller was removed before anybody knew of the worker", function () {
    this.timeout("10m");
    impatientLocks();
    let world: World;

    afterEach(() => world.close());

    const through = (name: string): Bag => {
        const { host, connection } = world.inputs(name);
        return { cluster: { controllers: [{ host, connection }] } };
    };
    const nodes = (): string[] => world.sim.cluster.store.list(RESOURCES.nodes).map(({ metadata }) => metadata.name);
    const serverOf = (name: string): string =>
        /server: (.*)/.exec(world.sim.find(name).files.text("/var/lib/k0s/kubelet.conf") ?? "")?.[1] ?? "";

    for (const [when, moment] of [
        ["its k0s was installed", { what: "program w1 install-service", nth: 1 }],
        ["its Node was registered", { what: "api-write c2 PATCH /api/v1/nodes/w1", nth: 1 }],
    ] as const) {
        it(`is made through another one by the next create, where ${when}`, async () => {
            world = await World.start(["c2"]);
            const c2 = await world.create("c2");
            const watch = new Watch(world.sim, moment);
            await killed(world, () => world.create("w1", through("c2")));
            assert.ok(watch.hasKilled);
            await controller.delete(c2.id, c2.outs);
            await world.rest();
            // What it was given leads nowhere now. The simulated kubelet does not lose its API with its server.
            world.sim.cluster.store.update(RESOURCES.nodes, "w1", (one) => {
                const lastTransitionTime = new Date(Date.now() - 120_000).toISOString().replace(/\.\d+Z$/, "Z");
                const conditions = [{ type: "Ready", status: "Unknown", lastTransitionTime }];
                one.status = { ...one.status, conditions };
            });
            const { outs } = await world.create("w1");
            assert.equal(outs["status"], "ready");
            assert.equal(serverOf("w1"), `https://${world.sim.find("c1").address}:6443`);
            assert.deepEqual(nodes().sort(), ["c1", "w1"]);
            world.sim.assertInvariants(/not a pulumi-mke program/);
        });
    }
});
