import assert from "node:assert/strict";
import { after, before, it } from "mocha";
import { MkeControllerNode, MkeWorkerNode } from "pulumi-mke";
import { Machine as Instance } from "../e2e/machines";
import { assertCluster, hostState, untilNodesAreSteady } from "./checks";
import { LabCloud } from "./cloud";
import { etcdMembersSeenFrom, kubectl, readySince } from "./inspect";
import { CONTROLLER_FLAGS, describeOnOwnLab, type Lab, WORKER_FLAGS } from "./lab";
import { c1, type Machine, w1 } from "./machines";
import { watched } from "./watch";

const LOCATIONS = ["one", "two", "three"];
/** Seconds that a user of the API may have to wait, with a margin for hosts that share few cores. */
const LONGEST_GAP = 5;

describeOnOwnLab("replacing the machines of all controllers in one up", { controllers: [c1] }, (lab) => {
    let cloud: LabCloud;

    before("starts the cloud", async () => (cloud = await LabCloud.start(lab())));
    after(() => cloud.close());

    it("adopts the first controller, joins two more and a worker, their addresses known from instances only", async () => {
        await lab().engine.up(program(lab(), cloud, LOCATIONS, "old"));
        assert.equal(cloud.machines.length, LOCATIONS.length);
        await assertCluster({ controllers: all(cloud), workers: [w1] });
    });

    it("goes from three to six and back to three, and loses neither voters nor the worker", async () => {
        const old = [...cloud.machines];
        await untilNodesAreSteady(c1);
        const ready = await readySince(c1, w1.name);
        const up = (): Promise<unknown> => lab().engine.up(program(lab(), cloud, LOCATIONS, "new"));
        const { voters, clusterIds, written } = await watched(c1, () => cloud.machines, up);
        assert.deepEqual(voters, [3, 4, 5, 6, 5, 4, 3]);
        assert.equal(clusterIds.length, 1);
        assert.ok(written.longestGap < LONGEST_GAP, `nothing could be written for ${written.longestGap} s`);
        assert.deepEqual(cloud.ended.map(({ machine }) => machine.name).sort(), old.map(({ name }) => name).sort());
        assert.deepEqual(
            cloud.ended.flatMap(({ left }) => left),
            [],
        );
        await assertCluster({ controllers: all(cloud), workers: [w1] });
        assert.equal(await readySince(all(cloud)[0], w1.name), ready);
        assert.match(ready, /^True since/);
        assert.deepEqual((await lab().engine.up(program(lab(), cloud, LOCATIONS, "new"))).changes, { same: 8 });
    });
});

describeOnOwnLab(
    "replacing a controller without an external address",
    { controllers: [c1], external: false },
    (lab) => {
        let cloud: LabCloud;

        before("starts the cloud", async () => (cloud = await LabCloud.start(lab())));
        after(() => cloud.close());

        it("leaves the one alone that a worker joined through", async () => {
            await lab().engine.up(program(lab(), cloud, ["one"], "old"));
            await assertCluster({ controllers: [c1], workers: [w1] });
            const untouched = await hostState(c1);
            await assert.rejects(
                lab().engine.up(program(lab(), cloud, ["one"], "new")),
                new RegExp(`worker ${w1.name} reaches the API through ${c1.address.replaceAll(".", "\\.")}`),
            );
            await assertCluster({ controllers: all(cloud), workers: [w1] });
            assert.equal(await hostState(c1), untouched);
            assert.equal((await etcdMembersSeenFrom(c1)).find(({ name }) => name === c1.name)?.leave, false);
            const { items } = await kubectl(c1, "get nodes");
            assert.ok(items.every(({ spec }) => spec?.unschedulable !== true));
            assert.deepEqual(cloud.ended, []);
        });
    },
);

/** A controller for each instance, and a worker. Hosts and helpers come from the instances and from nowhere else. */
function program(lab: Lab, cloud: LabCloud, locations: readonly string[], image: string): () => Promise<void> {
    return () => {
        const instances = locations.map((name) => new Instance(`machine-${name}`, { cloud: cloud.url, image }));
        const args = lab.inputs(instances.map(({ address }) => address));
        instances.forEach(({ address }, index) => {
            new MkeControllerNode(locations[index] ?? "", { ...args, host: address, installFlags: CONTROLLER_FLAGS });
        });
        new MkeWorkerNode("w1", { ...args, host: w1.address, installFlags: WORKER_FLAGS });
        return Promise.resolve();
    };
}

/** By name, which is by age. */
function all({ machines }: LabCloud): [Machine, ...Machine[]] {
    const [first, ...others] = [...machines].sort((a, b) => a.name.localeCompare(b.name));
    if (first === undefined) throw new Error("there is no machine");
    return [first, ...others];
}
