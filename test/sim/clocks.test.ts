import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { RefusedError } from "../../provider/errors";
import { impatientLocks, World } from "../support/interruption";
import { RESOURCES } from "./index";

const HOURS = 3600;

describe("the clock of the machine that runs Pulumi", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());

    it("may be two hours behind: a joiner is compared with the cluster, and an old breakage is no wobble", async () => {
        world = await World.start(["c2"], 40, 2 * HOURS);
        const { sim } = world;
        await world.create("w1");
        sim.find("w1").powerOff();
        await sim.until("the Node is NotReady for more than a minute", () => isNotReadyFor(world, "w1", 61));
        await assert.rejects(
            world.create("c3", { backup: { skip: true } }),
            (error: Error) => error instanceof RefusedError && /Node w1 is NotReady/.test(error.message),
        );
    });

    it("does not count where a joiner's own clock is off, which is refused before anything is written", async () => {
        world = await World.start(["c2"]);
        const { sim } = world;
        Object.assign(sim.find("w1").options, { clockSkew: -600 });
        const start = sim.events.length;
        await assert.rejects(world.create("w1"), /pre-flight on .*: its clock is (599|60\d) s behind the API server's/);
        const written = sim.events.slice(start).filter(({ kind, what }) => kind === "stream" || /install/.test(what));
        assert.deepEqual(written, []);
        await world.create("w1", { preflight: { os: false, minDiskMiB: false, maxClockSkew: false } });
    });
});

function isNotReadyFor({ sim }: World, name: string, seconds: number): boolean {
    const { clock } = sim.world;
    const { conditions = [] } = (sim.cluster.store.get(RESOURCES.nodes, name)?.status ?? {}) as {
        conditions?: { status: string; lastTransitionTime: string }[];
    };
    const [ready] = conditions;
    if (ready === undefined || ready.status === "True") return false;
    return clock.wallOf(clock.now) - Date.parse(ready.lastTransitionTime) >= seconds * 1000;
}
