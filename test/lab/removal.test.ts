import assert from "node:assert/strict";
import { before, it } from "mocha";
import type { MkeControllerNodeArgs } from "pulumi-mke";
import { assertCluster } from "./checks";
import { makeLeader } from "./inspect";
import { describeOnOwnLab, type Lab } from "./lab";
import { c1, c2, c3, c4, c5, type Machine } from "./machines";
import { watched } from "./watch";

const ALL = [c1, c2, c3, c4, c5];
/** They have no kubelet; the first one, which is not made by the program, has one. */
const PLAIN = [c2, c3, c4, c5];
/** Seconds that a user of the API may have to wait, with a margin for hosts that share few cores. */
const LONGEST_GAP = 5;

describeOnOwnLab("controllers removed from the program of a real cluster", { controllers: ALL }, (lab) => {
    before("five controllers, the first one adopted", async () => {
        await lab().up({ controllers: ALL, own: plain() });
        await assertCluster({ controllers: [c1, c2, c3, c4, c5], plain: PLAIN });
    });

    it("goes from five to three in one up, the etcd leader among the two", async () => {
        await makeLeader(ALL, c5);
        const { voters, written } = await watched(
            c1,
            () => ALL,
            async () => {
                await lab().up({ controllers: [c1, c2, c3], own: plain() });
            },
        );
        assert.deepEqual(voters, [5, 4, 3]);
        assert.ok(written.longestGap < LONGEST_GAP, `nothing could be written for ${written.longestGap} s`);
        await assertCluster({ controllers: [c1, c2, c3], plain: PLAIN, blank: [c4, c5] });
    });

    it("goes from three to two, the first in every list of controllers", async () => {
        const { voters } = await watched(
            c2,
            () => [c1, c2, c3],
            async () => {
                await lab().up({ controllers: [c2, c3], own: plain({ c3: list(lab(), [c3, c2]) }) });
            },
        );
        assert.deepEqual(voters, [3, 2]);
        await assertCluster({ controllers: [c2, c3], plain: PLAIN, blank: [c1] });
    });

    it("goes from two to one, which is the only other one in the list of the one that goes", async () => {
        const { voters } = await watched(
            c2,
            () => [c2, c3],
            async () => {
                await lab().up({ controllers: [c2], own: plain() });
            },
        );
        assert.deepEqual(voters, [2, 1]);
        await assertCluster({ controllers: [c2], plain: PLAIN, blank: [c3] });
    });
});

/** Inputs of each controller: without a kubelet, and those given here by its name. */
function plain(
    more: Readonly<Record<string, Partial<MkeControllerNodeArgs>>> = {},
): (machine: Machine) => Partial<MkeControllerNodeArgs> {
    return (machine) => ({ ...(PLAIN.includes(machine) && { role: "controller" as const }), ...more[machine.name] });
}

/** Only these help. */
function list(lab: Lab, controllers: readonly Machine[]): Partial<MkeControllerNodeArgs> {
    const { cluster } = lab.inputs(controllers.map(({ address }) => address));
    return { cluster };
}
