import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { RefusedError } from "../../provider/errors";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES, type SimEvent } from "../sim";
import { impatientLocks, World } from "../support/interruption";
import { LOOKING } from "../support/looking";
import { MKE_CRDS } from "../support/mke-crds";

/** safety.md 22: an upgrade by autopilot and k0sctl come first, whatever is asked for. */
describe("while somebody else works on a cluster", function () {
    this.timeout("10m");
    impatientLocks();
    const quick = (name: string): Bag => ({
        timeouts: { ready: 2 },
        ...(name.startsWith("w") ? {} : { backup: { skip: true } }),
    });
    let world: World;

    afterEach(() => world.close());

    type Begun = () => Promise<unknown>;

    /** Each way of changing the host of a node in state, and what had happened to it. */
    const WAYS: Readonly<Record<string, (name: string) => Promise<Begun>>> = {
        "a create that would adopt": async (name) => () => world.create(name, quick(name)),
        "a repair": async (name) => {
            const made = await world.create(name, quick(name));
            world.sim.find(name).stopService();
            await world.rest();
            const outs = await world.refresh(name, made);
            return () => world.update(name, made.id, outs, quick(name));
        },
        "other flags": async (name) => {
            const { id, outs } = await world.create(name, quick(name));
            return () => world.update(name, id, outs, { ...quick(name), installFlags: ["--debug"] });
        },
        "other labels": async (name) => {
            const { id, outs } = await world.create(name, quick(name));
            return () => world.update(name, id, outs, { ...quick(name), labels: { a: "b" } });
        },
        "the rest of an interrupted join": async (name) => {
            const { id, outs } = await world.create(name, quick(name));
            return () => world.update(name, id, { ...outs, status: "joining" }, quick(name));
        },
        "a rebuild": async (name) => {
            const made = await world.create(name, quick(name));
            world.sim.world.act(() => world.sim.find(name).wipe());
            await world.rest();
            const outs = await world.refresh(name, made);
            assert.match(String(outs["state"]), /^rebuild/);
            return () => world.update(name, made.id, outs, quick(name));
        },
        "a removal": async (name) => {
            const { id, outs } = await world.create(name, quick(name));
            return () => World.kindOf(name).delete(id, outs);
        },
    };

    const OF_WORKERS = ["a repair", "a rebuild", "a removal"];

    const changes = (): SimEvent[] =>
        world.sim.events.filter(
            ({ kind, what }) =>
                (["api-write", "etcd-write", "stream"].includes(kind) && !what.includes("/leases")) ||
                (kind === "program" && !LOOKING.has(what)),
        );

    async function refusedWithout(begin: Begun, topic: string, what: RegExp): Promise<void> {
        const before = changes();
        await assert.rejects(begin(), (error) => {
            assert.ok(error instanceof RefusedError, String(error));
            assert.equal(error.topic, topic);
            assert.match(error.message, what);
            return true;
        });
        assert.deepEqual(changes(), before);
    }

    function beginPlan(): void {
        const { store } = world.sim.cluster;
        const [definition] = MKE_CRDS.filter(({ spec }) => spec.names.plural === "plans");
        world.sim.world.act(() => {
            store.create(RESOURCES.crds, definition as never);
            store.create(PLANS, { metadata: { name: "autopilot" }, spec: {}, status: { state: "SchedulableWait" } });
        });
    }

    for (const name of ["c3", "w1"]) {
        for (const [way, prepare] of Object.entries(WAYS)) {
            if (name === "w1" && !OF_WORKERS.includes(way)) continue;

            it(`${way} of ${name} changes nothing beside an unfinished plan, and the error tells how to end that`, async () => {
                world = await World.start(["c2", "c3", "w1"]);
                const begin = await prepare(name);
                beginPlan();
                await refusedWithout(
                    begin,
                    "version-mismatch",
                    /plan autopilot is unfinished.*\n[^]*k0s kubectl delete plan autopilot/,
                );
                world.sim.world.act(() => world.sim.cluster.store.delete(PLANS as never, "autopilot"));
                await begin();
            });

            it(`${way} of ${name} changes nothing beside k0sctl, and goes on after it`, async () => {
                world = await World.start(["c2", "c3", "w1"]);
                const begin = await prepare(name);
                const { files } = world.sim.find(name);
                files.write("/run/lock/k0sctl", "3 admin@laptop:4711");
                await refusedWithout(
                    begin,
                    "lock-held",
                    /k0sctl works on this host \(admin@laptop:4711\)[^]*end it there/,
                );
                files.remove("/run/lock/k0sctl");
                await begin();
            });
        }
    }
});

const PLANS = {
    group: "autopilot.k0sproject.io",
    version: "v1beta2",
    plural: "plans",
    kind: "Plan",
    namespaced: false,
};
