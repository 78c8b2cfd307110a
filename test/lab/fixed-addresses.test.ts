import assert from "node:assert/strict";
import { after, before, it } from "mocha";
import type { CustomResourceOptions } from "@pulumi/pulumi";
import { MkeControllerNode, type MkeControllerNodeArgs, MkeWorkerNode } from "pulumi-mke";
import { asProgram, guideProgram } from "../e2e/guide-program";
import { ec2InstancesOf } from "../e2e/machines";
import type { UpSummary } from "../support/engine";
import { assertCluster, untilNodesAreSteady } from "./checks";
import { LabCloud } from "./cloud";
import { membersSeenFrom, readySince } from "./inspect";
import { CONTROLLER_FLAGS, describeOnOwnLab, type Lab, WORKER_FLAGS } from "./lab";
import { addressAt, c1, c2, c3, hostKeyOf, type Machine, on, w1 } from "./machines";
import { watched } from "./watch";

const ALL: readonly [Machine, ...Machine[]] = [c1, c2, c3];
/** Seconds that a user of the API may have to wait, with a margin for hosts that share few cores. */
const LONGEST_GAP = 5;
/** The guide's network and user, and the lab's. */
const GUIDE = guideProgram("replacing-ec2-controllers", 2)
    .replaceAll("10.0.1.", addressAt(0).replace(/0$/, ""))
    .replace('"ubuntu"', '"root"');

describeOnOwnLab("replacing the machines of controllers that keep their addresses", { controllers: ALL }, (lab) => {
    let cloud: LabCloud;

    before("starts the cloud", async () => (cloud = await LabCloud.start(lab())));
    after(() => cloud.close());

    /** As a person who sets the image and runs `pulumi up`. */
    const up = async (image: string): Promise<UpSummary> => {
        const { privateKey } = lab().connection;
        await lab().engine.configure({ "mke:ami": image, "mke:subnet": "subnet", "mke:privateKey": privateKey });
        return lab().engine.up(programOf(lab(), cloud));
    };

    it("adopts the first controller, joins two blank machines and a worker, with the program of the guide", async () => {
        await up("old");
        await assertCluster({ controllers: ALL, workers: [w1] });
    });

    it("takes them one after the other in one up: 3, 2, 3, three times", async () => {
        await untilNodesAreSteady(c1);
        const old = await Promise.all(ALL.map(identity));
        const ready = await readySince(c1, w1.name);
        const { voters, clusterIds, written } = await watched(
            c1,
            () => cloud.machines,
            async () => assert.deepEqual((await up("new")).changes, { same: 2, replace: 6 }),
        );
        assert.deepEqual(voters, [3, 2, 3, 2, 3, 2, 3]);
        assert.equal(clusterIds.length, 1);
        assert.ok(written.longestGap < LONGEST_GAP, `nothing could be written for ${written.longestGap} s`);
        assert.deepEqual(
            cloud.ended,
            ALL.map((machine) => ({ machine, left: [] })),
        );
        for (const [index, machine] of ALL.entries()) {
            const anew = await identity(machine);
            assert.deepEqual(
                Object.values(anew).filter((value) => Object.values(old[index] ?? {}).includes(value)),
                [],
                `${machine.name} is the old one`,
            );
        }
        await assertCluster({ controllers: ALL, workers: [w1] });
        assert.equal(await readySince(c1, w1.name), ready);
        assert.match(ready, /^True since/);
        assert.deepEqual((await up("new")).changes, { same: 8 });
    });
});

/** The page's own program, with instances of that cloud, and what a node needs on this kind of machine; and a worker. */
function programOf(lab: Lab, cloud: LabCloud): () => Promise<void> {
    const usual = lab.inputs(ALL.map(({ address }) => address));
    class Node extends MkeControllerNode {
        constructor(name: string, args: MkeControllerNodeArgs, options?: CustomResourceOptions) {
            super(name, { ...usual, ...args, installFlags: CONTROLLER_FLAGS }, options);
        }
    }
    const ec2 = { Instance: ec2InstancesOf(cloud.url) };
    const controllers = asProgram(GUIDE, { "@pulumi/aws": { ec2 }, "pulumi-mke": { MkeControllerNode: Node } });
    return async () => {
        await controllers();
        new MkeWorkerNode("w1", { ...usual, host: w1.address, installFlags: WORKER_FLAGS });
    };
}

/** What a machine and its member are known by. */
async function identity(machine: Machine): Promise<Record<string, string | undefined>> {
    return {
        hostKey: await hostKeyOf(machine),
        machineId: await on(machine, "cat /etc/machine-id"),
        memberId: (await membersSeenFrom(machine)).find(({ name }) => name === machine.name)?.id,
    };
}
