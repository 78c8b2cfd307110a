import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { controller, worker } from "../../provider";
import { OtherMachineError } from "../../provider/errors";
import { RESOURCES, type SimHost } from "../sim";
import { settle } from "../sim/scene";
import { impatientLocks, World } from "../support/interruption";
import { LOOKING } from "../support/looking";

const DATA = "/var/lib/k0s/kubelet/pods/0815/volumes/data";

/** An address that leads to the node, and elsewhere once its drain has begun: a name, an elastic IP address, DHCP. */
const ELASTIC = 99;

describe("an address that leads to another machine while an operation runs", function () {
    this.timeout("5m");
    impatientLocks();
    let world: World;
    afterEach(() => world.close());

    const others: readonly {
        readonly whose: string;
        readonly make: (other: SimHost) => void;
        /** What the other machine shares with the node's. */
        readonly like?: (other: SimHost, node: SimHost) => void;
        readonly error: RegExp;
    }[] = [
        {
            whose: "another stack's worker of the same cluster",
            make: ({ name }) => world.sim.addSettled(name, "worker"),
            error: /another machine answers: when this operation began, the host key was /,
        },
        {
            whose: "a worker of another cluster",
            make: makeForeignWorker,
            error: /another machine answers: when this operation began, the host key was /,
        },
        {
            whose: "a worker made from the same image, with its host key",
            make: makeForeignWorker,
            like: (other, node) => (other.hostKey = node.hostKey),
            error: /another machine answers there: machine \w+; this operation was decided on machine \w+/,
        },
        {
            whose: "a copy that has host key and machine id",
            make: makeForeignWorker,
            like: (other, node) => Object.assign(other, { hostKey: node.hostKey, machineId: node.machineId }),
            error: /another machine answers there: a machine without our marker; .* the marker of token /,
        },
    ];
    for (const { whose, make, like, error } of others) {
        it(`leaves ${whose} alone`, async () => {
            world = await World.start(["w1"]);
            const { sim } = world;
            const made = await world.create("w1", { host: elasticTo("w1"), drain: { timeout: 300 } });
            const other = sim.host("w7", { address: addressIn(97) });
            like?.(other, sim.find("w1"));
            make(other);
            other.files.write(DATA, "somebody's data");
            const removing = whileDraining("w1", "w7", () => worker.delete(made.id, made.outs));
            await assert.rejects(removing, (thrown: Error) => {
                assert.ok(thrown instanceof OtherMachineError && !thrown.retryable);
                assert.match(thrown.message, error);
                return true;
            });
            assertUntouched(other);
            assert.equal(other.files.text(DATA), "somebody's data");
            sim.assertInvariants(/there are 2 clusters/);
        });
    }

    it("is looked at afresh by the next run, which takes out the node and leaves the machine alone", async () => {
        world = await World.start(["w1"]);
        const { sim } = world;
        const made = await world.create("w1", { host: elasticTo("w1"), drain: { timeout: 300 } });
        makeForeignWorker(sim.host("w7", { address: addressIn(97) }));
        await assert.rejects(
            whileDraining("w1", "w7", () => worker.delete(made.id, made.outs)),
            OtherMachineError,
        );
        sim.find("w1").powerOff();
        await worker.delete(made.id, made.outs);
        assert.equal(sim.cluster.store.get(RESOURCES.nodes, "w1"), undefined);
        assertUntouched(sim.find("w7"));
    });

    it("is not touched as the old node when a new machine takes its place, before it joins as one", async () => {
        world = await World.start(["w1"]);
        const { sim } = world;
        const { id, outs } = await world.create("w1");
        sim.find("w1").wipe();
        await world.rest();
        const began = sim.events.length;
        const { status } = await world.update("w1", id, await world.refresh("w1", { id, outs }));
        assert.equal(status, "ready");
        const done = sim.events
            .slice(began)
            .filter(({ kind, host, what }) => host === "w1" && kind === "program" && !LOOKING.has(what));
        assert.deepEqual([done[0]?.what, done[0]?.values?.["FILE"]], ["write-file", "/etc/pulumi-mke/node.json"]);
    });

    it("leaves another controller alone, and etcd its quorum", async () => {
        world = await World.start(["c2", "c3"]);
        const { sim } = world;
        const login = { host: sim.find("c1").address, connection: sim.connectionArgs("c1") };
        const made = await world.create("c3", {
            host: elasticTo("c3"),
            cluster: { controllers: [login] },
            backup: { skip: true },
            drain: { timeout: 300 },
        });
        await assert.rejects(
            whileDraining("c3", "c2", () => controller.delete(made.id, made.outs)),
            OtherMachineError,
        );
        assertUntouched(sim.find("c2"));
        assert.ok(sim.find("c2").files.isDirectory("/var/lib/k0s/etcd"));
        // k0s itself takes its object back, when it sees that its member has gone.
        sim.assertInvariants(/EtcdMember c3 is of no member/);
    });

    function addressIn(last: number): string {
        return world.sim.find("c1").address.replace(/\d+$/, String(last));
    }

    function elasticTo(name: string): string {
        world.sim.balancer(addressIn(ELASTIC), [name]);
        return addressIn(ELASTIC);
    }

    function makeForeignWorker(other: SimHost): void {
        const { sim } = world;
        sim.host("x1", { address: addressIn(96) });
        sim.world.act(() => {
            const foreign = settle(sim.find("x1"), "controller+worker", undefined, {});
            settle(other, "worker", foreign, {});
        });
    }

    /** Runs it; once its drain is held up, the address leads elsewhere and connections to the node end, then the drain goes on. */
    async function whileDraining(name: string, other: string, action: () => Promise<unknown>): Promise<unknown> {
        const { sim } = world;
        sim.addPod(name, { name: "db-0", blocked: true });
        const running = action();
        running.catch(() => undefined);
        await sim.until("the drain is held up", () =>
            sim.events.some(({ kind, what }) => kind === "api-write" && what.includes("eviction")),
        );
        sim.balancer(addressIn(ELASTIC), [other]);
        sim.world.disconnect(sim.find(name));
        sim.world.act(() => sim.cluster.store.delete(RESOURCES.pods, "db-0", "default"));
        return running;
    }

    function assertUntouched({ name, units }: SimHost): void {
        const done = world.sim.events.filter(
            ({ kind, host, what }) =>
                host === name && (kind === "stream" || (kind === "program" && !LOOKING.has(what))),
        );
        assert.deepEqual(done, []);
        assert.equal(units.installed?.active, "active");
    }
});
