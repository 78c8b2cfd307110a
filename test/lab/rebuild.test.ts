import assert from "node:assert/strict";
import { before, it } from "mocha";
import type { MkeControllerNodeArgs } from "pulumi-mke";
import { assertCluster, everything } from "./checks";
import { membersSeenFrom } from "./inspect";
import { describeOnLab, type Lab } from "./lab";
import { bootMachine, c1, c2, c3, destroyMachine, hostKeyOf, type Machine } from "./machines";
import { type Watched, watched } from "./watch";

const ALL = [c1, c2, c3];
const WANTED = { controllers: [c2, c3] };
const OTHER_MACHINE = "the host is another machine than the one in state";

describeOnLab("a machine made anew on the address of a real controller", (lab) => {
    before("two controllers beside the first", async () => {
        await lab().up(WANTED);
    });

    it("is left alone without a refresh, and rebuilt through the survivors after one", async () => {
        const dead = await memberOf(c3);
        await makeAnew(lab(), c3);
        const before = await everything(c1, [c1, c2, c3]);
        const without = await watchingAll(() => lab().up(WANTED));
        assert.deepEqual(await everything(c1, [c1, c2, c3]), before);

        const printed = lab().said.length;
        const after = await watchingAll(() => lab().up(WANTED, { refresh: true }));
        assert.match(lab().said.slice(printed), new RegExp(`c3: will be updated: rebuild: ${OTHER_MACHINE}`));
        assert.deepEqual(after.voters, [3, 2, 3]);
        assert.deepEqual([...new Set([...without.clusterIds, ...after.clusterIds])].length, 1);
        assert.notEqual(await memberOf(c3), dead);
        await assertCluster({ controllers: [c1, c2, c3] });
        assert.deepEqual((await lab().up(WANTED, { refresh: true })).changes, { same: 3 });
    });

    it("is not touched while the program names the host key of the old one, and rebuilt when it names the new one", async () => {
        const hostKey = await hostKeyOf(c3);
        await lab().up({ ...WANTED, own: pin(lab(), c3, hostKey) });
        const dead = await memberOf(c3);
        await makeAnew(lab(), c3);
        const before = await everything(c1, [c1, c2, c3]);
        const refusal = await lab().refusalOf({ ...WANTED, own: pin(lab(), c3, hostKey) }, { refresh: true });
        assert.match(refusal, /c3.*connection\.hostKey/);
        assert.deepEqual(await everything(c1, [c1, c2, c3]), before);

        const own = pin(lab(), c3, await hostKeyOf(c3));
        const { voters, clusterIds } = await watchingAll(() => lab().up({ ...WANTED, own }, { refresh: true }));
        assert.deepEqual(voters, [3, 2, 3]);
        assert.equal(clusterIds.length, 1);
        assert.notEqual(await memberOf(c3), dead);
        await assertCluster({ controllers: [c1, c2, c3] });
    });
});

/** Every address is asked, the rebuilt machine's as well: a second cluster would be seen. */
function watchingAll(action: () => Promise<unknown>): Promise<Watched> {
    return watched(c1, () => ALL, action);
}

/** Another machine on the same address, as after a hardware swap: its host key, machine ID and disk are new. */
async function makeAnew(lab: Lab, machine: Machine): Promise<void> {
    const hostKey = await hostKeyOf(machine);
    await destroyMachine(machine);
    await bootMachine(machine);
    await lab.placeImage(machine);
    assert.notEqual(await hostKeyOf(machine), hostKey);
}

async function memberOf({ address }: Machine): Promise<string | undefined> {
    return (await membersSeenFrom(c1)).find(({ peer }) => peer.includes(`//${address}:`))?.id;
}

function pin(lab: Lab, pinned: Machine, hostKey: string): (machine: Machine) => Partial<MkeControllerNodeArgs> {
    return (machine) => (machine === pinned ? { connection: { ...lab.connection, hostKey } } : {});
}
