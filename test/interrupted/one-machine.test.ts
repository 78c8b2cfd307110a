import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { RefusedError } from "../../provider/errors";
import { impatientLocks, World } from "../support/interruption";

/** Two programs that do not know of each other name one blank machine differently, at one time. */
describe("two stacks and one blank machine", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());

    it("one of them gets it, and the other one is refused with nothing changed there", async () => {
        world = await World.start(["c2"]);
        const create = (stack: string, nodeName: string): Promise<unknown> =>
            world.create("w1", { owner: `organization/project/${stack}/w`, nodeName });
        const ends = await Promise.allSettled([create("mine", "node-a"), create("yours", "node-b")]);
        const [refused, ...more] = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as Error] : []));
        assert.equal(more.length, 0);
        assert.ok(refused instanceof RefusedError, String(refused));
        assert.match(refused.message, /it belongs to organization\/project\/(mine|yours)\/w/);
        const { files, units } = world.sim.find("w1");
        const won = ends[0].status === "fulfilled" ? "mine" : "yours";
        assert.match(files.text("/etc/pulumi-mke/node.json") ?? "", new RegExp(`project/${won}/w`));
        assert.equal(units.installed?.active, "active");
        world.sim.assertInvariants();
    });
});
