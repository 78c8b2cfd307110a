import assert from "node:assert/strict";
import { before, it } from "mocha";
import { assertCluster, eventually } from "./checks";
import { etcdMembersSeenFrom, makeLeader } from "./inspect";
import { describeOnLab } from "./lab";
import { c1, c2, c3, on } from "./machines";
import { holdDrain, podsOf } from "./pods";

const PATIENCE = 60;

describeOnLab("members of a real etcd", (lab) => {
    before("two controllers beside the first", async () => {
        await lab().up({ controllers: [c2, c3] });
    });

    it("takes out a controller that is removed from the program, and resets its machine", async () => {
        await lab().up({ controllers: [c2] });
        await assertCluster({ controllers: [c1, c2], blank: [c3] });
    });

    it("joins the same machine again", async () => {
        await lab().up({ controllers: [c2, c3] });
        await assertCluster({ controllers: [c1, c2, c3] });
    });

    it("takes out the etcd leader", async () => {
        await makeLeader([c1, c2, c3], c2);
        await lab().up({ controllers: [c3] });
        await assertCluster({ controllers: [c1, c3], blank: [c2] });
    });

    it("goes from two controllers to one", async () => {
        await lab().up({ controllers: [] });
        await assertCluster({ controllers: [c1], blank: [c2, c3] });
    });

    it("goes from one controller to two, and to three", async () => {
        await lab().up({ controllers: [c2] });
        await assertCluster({ controllers: [c1, c2], blank: [c3] });
        await lab().up({ controllers: [c2, c3] });
        await assertCluster({ controllers: [c1, c2, c3] });
    });

    it("finishes by ID when the leaving controller restarts and takes its own leave back", async () => {
        const hold = await holdDrain(c1, c3.name);
        const printed = lab().said.length;
        const removal = lab().up({ controllers: [c2] });
        await Promise.all([removal, revokeLeave(hold.release)]);
        assert.match(lab().said.slice(printed), /removed by ID, because its own leave was revoked/);
        await assertCluster({ controllers: [c1, c2], blank: [c3] });
    });
});

/** Stops k0s on c3 before it is asked to leave, and kills it afterwards: systemd starts it again, and it wants to stay. */
async function revokeLeave(release: () => Promise<void>): Promise<void> {
    const signal = (name: string): Promise<string> =>
        on(c3, `kill -${name} $(systemctl show -p MainPID --value k0scontroller)`);
    await eventually(PATIENCE, async () => assert.ok((await podsOf(c1, "hold"))[0]?.deleting));
    await signal("STOP");
    await release();
    await eventually(PATIENCE, async () => {
        const object = (await etcdMembersSeenFrom(c1)).find(({ name }) => name === c3.name);
        assert.ok(object?.leave);
    });
    await signal("KILL");
}
