import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { RefusedError } from "../../provider/errors";
import { forgetControllers } from "../../provider/resource/known-controllers";
import { writesSince } from "../matrix/evidence";
import { failureOf } from "../matrix/judge-refusal";
import { World } from "../matrix/world";

/** As after SIGSTOP: the process holds its port and answers nothing, which proves nothing of what it serves. */
describe("a controller whose etcd hangs", () => {
    let world: World;

    before(async () => {
        world = await World.make("controller", 20);
        await world.adopt();
        world.target.hangEtcd();
    });

    after(async () => {
        closeAll();
        forgetControllers();
        await world.close();
    });

    it("is not added, and nothing is changed", async () => {
        const start = world.sim.events.length;
        const error = await failureOf(() => world.create({ ready: 1 }));
        assert.ok(error instanceof RefusedError);
        assert.match(error.message, /its own etcd does not answer\n.*does not say which cluster it serves/);
        assert.equal(error.topic, "broken-installation");
        assert.deepEqual(writesSince(world, start), []);
    });

    it("is removed by the ID of its member, through a survivor", async () => {
        const id = world.sim.members().find(({ name }) => name === "c3")?.id ?? 0n;
        const start = world.sim.events.length;
        await world.delete({});
        const asked = writesSince(world, start).filter(({ kind }) => kind === "etcd-write");
        assert.deepEqual(
            asked.map(({ what, host }) => `${what} on ${host}`),
            [`MemberRemove ${id.toString(16)} on c1`],
        );
        assert.deepEqual(world.sim.memberNames(), ["c1", "c2"]);
        assert.equal(world.target.units.installed, undefined);
    });
});
