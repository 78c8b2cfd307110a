import assert from "node:assert/strict";
import { before, it } from "mocha";
import { assertCluster, eventually, everything } from "./checks";
import { etcdctl, membersSeenFrom } from "./inspect";
import { describeOnLab } from "./lab";
import { addressAt, bootMachine, c1, c2, c3, destroyMachine, killMachine, type Machine, on, w1 } from "./machines";
import { followRunbook } from "./runbook";

/** Nobody has this address. */
const ghost: Machine = { name: "ghost", address: addressAt(99) };

describeOnLab("accidents in a real cluster", (lab) => {
    before("one controller beside the first", async () => {
        await lab().up({ controllers: [c2] });
    });

    it("adds no controller while etcd lists a ghost, and does after the runbook was followed", async () => {
        await followRunbook("Before anything else", 0, { helper: c1, node: ghost });
        for (const block of [0, 1]) {
            const memberId = await addGhost();
            if (block === 0) {
                const refused = await everything(c1, [c3]);
                const refusal = await lab().refusalOf({ controllers: [c2, c3] });
                assert.ok(refusal.includes(ghost.address) && refusal.includes(memberId), refusal);
                assert.match(refusal, /docs\/runbook\.md#ghost-member/);
                assert.deepEqual(await everything(c1, [c3]), refused);
            }
            await followRunbook("ghost-member", block, { helper: c1, node: ghost, memberId });
            assert.equal((await membersSeenFrom(c1)).length, 2);
        }
        await lab().up({ controllers: [c2, c3], workers: [w1] });
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
    });

    it("reports a controller that was removed from outside, leaves it alone, and goes on after the runbook was followed", async () => {
        await on(c1, `k0s etcd leave --peer-address ${c3.address}`);
        await lab().engine.refresh();
        const drifted = await lab().engine.outputsOf("c3");
        assert.equal(drifted["status"], "degraded");
        assert.match(String(drifted["drift"]), /removed from etcd by somebody else|etcd does not list it/);
        const before = await everything(c1, [c3]);
        for (const controllers of [[c2, c3], [c2]]) {
            const refusal = await lab().refusalOf({ controllers, workers: [w1] });
            assert.match(refusal, /docs\/runbook\.md#removed-out-of-band/);
        }
        assert.deepEqual(await everything(c1, [c3]), before);

        await followRunbook("removed-out-of-band", 0, { helper: c1, node: c3 });
        await lab().engine.refresh();
        await lab().up({ controllers: [c2, c3], workers: [w1] });
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
    });

    it("removes a machine that was wiped without leaving, and adds it again", async () => {
        await on(c3, "systemctl disable --now k0scontroller && k0s reset && rm -rf /etc/k0s /etc/pulumi-mke");
        await lab().engine.refresh();
        const drifted = await lab().engine.outputsOf("c3");
        assert.equal(drifted["status"], "degraded");
        assert.notDeepEqual(drifted["drift"], []);
        await lab().up({ controllers: [c2], workers: [w1] });
        await assertCluster({ controllers: [c1, c2], workers: [w1], blank: [c3] });
        await lab().up({ controllers: [c2, c3], workers: [w1] });
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
    });

    it("removes one of three controllers that lost its power, once the program says so, and adds a new machine in its place", async () => {
        await killMachine(c3);
        const before = await everything(c1, []);
        const refusal = await lab().refusalOf({ controllers: [c2], workers: [w1] });
        assert.match(refusal, /the host does not answer, and onUnreachable is fail/);
        assert.deepEqual(await everything(c1, []), before);

        const more = { onUnreachable: "remove-from-cluster" } as const;
        await lab().up({ controllers: [c2, c3], workers: [w1], more });
        await lab().up({ controllers: [c2], workers: [w1], more });
        await assertCluster({ controllers: [c1, c2], workers: [w1] });
        await destroyMachine(c3);
        await bootMachine(c3);
        await lab().up({ controllers: [c2, c3], workers: [w1] });
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
    });

    it("removes everything again but the first controller", async () => {
        await lab().engine.destroy();
        await assertCluster({ controllers: [c1], blank: [c2, c3, w1] });
    });
});

/** A member that was added and never started. etcd takes none while another one only just connected. */
async function addGhost(): Promise<string> {
    await eventually(30, async () => {
        await on(c1, etcdctl(`member add ${ghost.name} --peer-urls=https://${ghost.address}:2380`));
    });
    const added = (await membersSeenFrom(c1)).find(({ peer }) => peer.includes(ghost.address));
    assert.ok(added !== undefined);
    return added.id;
}
