import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import type { Bag } from "../../provider/resource/shape";
import { SimMke } from "../sim/mke";
import { impatientLocks, killed, linesOf, Watch, World } from "../support/interruption";

const MARKED = "program w1 write-file /etc/pulumi-mke/node.json";
const DRIFT = ["an earlier change of its k0s settings was interrupted"];

describe("a change of k0s settings", function () {
    this.timeout("10m");
    impatientLocks();
    let world: World;

    afterEach(() => world.close());

    const argsOf = (name: string): readonly string[] => world.sim.find(name).units.installed?.args ?? [];
    const invocation = (name: string): string | undefined => world.sim.find(name).units.daemon?.invocationId;
    const settings = (outs: Bag): unknown[] => [outs["status"], outs["drift"]];

    it("that was killed before the restart is seen by a refresh, and taken back where the program took it back", async () => {
        world = await World.start(["c2", "c3"]);
        const made = await world.create("c3");
        const unit = "program c3 service reread";
        new Watch(world.sim, { what: unit, nth: 1 });
        await killed(world, () => world.update("c3", made.id, made.outs, { installFlags: ["--debug"] }));
        assert.ok(argsOf("c3").includes("--debug=true"));
        const running = invocation("c3");

        const outs = await world.refresh("c3", made);
        assert.deepEqual(settings(outs), ["degraded", DRIFT]);
        assert.deepEqual(settings(await world.refresh("c3", { id: made.id, outs })), ["degraded", DRIFT]);
        const found = await world.update("c3", made.id, outs);
        assert.deepEqual(settings(found), ["ready", []]);
        assert.equal(argsOf("c3").includes("--debug=true"), false);
        assert.notEqual(invocation("c3"), running, "it may have started with the flag");
        await world.rest();
        assert.deepEqual(settings(await world.refresh("c3", { id: made.id, outs: found })), ["ready", []]);
        world.sim.assertInvariants(/not a pulumi-mke program/);
    });

    it("reaches MkeConfig, also after it was killed between the restart and that", async () => {
        world = await World.start(["c2", "w1"]);
        const { sim } = world;
        const mke = new SimMke(sim.cluster, []);
        const flags = (): unknown => mke.hosts.map((host) => (host as { installFlags?: unknown }).installFlags);
        const key = { mke: { keyPath: "/keys/w1.pem" } };
        const made = await world.create("w1", key);
        assert.deepEqual(flags(), [undefined]);
        const more = { ...key, installFlags: ["--debug"] };
        const restarted = "program w1 service restart";
        const watch = new Watch(sim, { what: MARKED, nth: 2 });
        await killed(world, () => world.update("w1", made.id, made.outs, more));
        assert.ok(watch.hasKilled && watch.moments.some(({ what }) => what === restarted));
        assert.deepEqual(flags(), [undefined]);

        const outs = await world.refresh("w1", made);
        assert.deepEqual(settings(outs), ["degraded", DRIFT]);
        const running = invocation("w1");
        const found = await world.update("w1", made.id, outs, more);
        assert.deepEqual([settings(found), flags()], [["ready", []], [["--debug"]]]);
        assert.equal(invocation("w1"), running, "k0s ran with them already");

        // Killed once more, after the entry was written, and taken back by the program.
        const listed = "api-write c1 PATCH /apis/mke.mirantis.com/v1alpha1/namespaces/mke/mkeconfigs/mke";
        const again = new Watch(sim, { what: listed, nth: 1 });
        await killed(world, () => world.update("w1", made.id, found, { ...key, installFlags: ["--profile=x"] }));
        assert.ok(again.hasKilled);
        assert.deepEqual(flags(), [["--profile=x"]]);
        const drifted = await world.refresh("w1", { id: made.id, outs: found });
        const back = await world.update("w1", made.id, drifted, more);
        assert.deepEqual([settings(back), flags()], [["ready", []], [["--debug"]]]);
        assert.ok(argsOf("w1").includes("--debug=true") && !argsOf("w1").includes("--profile=x"));
        world.sim.assertInvariants(/not a pulumi-mke program/);
    });

    it("after which a worker does not come up is put back, and told", async () => {
        world = await World.start(["w1"]);
        const made = await world.create("w1");
        const before = argsOf("w1");
        const { sim } = world;
        sim.onEvent(({ kind, what, host }) => {
            const { installed } = sim.find("w1").units;
            if (kind === "host" && host === "w1" && what === "k0sworker runs" && installed?.flag("profile") === "wrong")
                setImmediate(() => sim.world.act(() => installed.crash("Error: cannot start")));
        });
        await assert.rejects(
            world.update("w1", made.id, made.outs, { installFlags: ["--profile=wrong"], timeouts: { api: 20 } }),
            (error: Error) => {
                assert.match(error.message, /old settings were put back, and k0s runs with them/);
                return true;
            },
        );
        assert.deepEqual(argsOf("w1"), before);
        sim.onEvent(undefined);
        await world.rest();
        assert.deepEqual(settings(await world.refresh("w1", made)), ["degraded", DRIFT]);
        const found = await world.update("w1", made.id, made.outs, { installFlags: ["--profile=right"] });
        assert.deepEqual(settings(found), ["ready", []]);
        sim.assertInvariants();
    });

    it("after which a controller does not come up is put back, and the next one is not touched", async () => {
        world = await World.start(["c2", "c3"]);
        const made = await world.create("c3");
        const before = argsOf("c3");
        const { sim } = world;
        // k0s ends at each start for as long as it has the flag.
        sim.onEvent(({ kind, what, host }) => {
            const { installed } = sim.find("c3").units;
            if (
                kind === "host" &&
                host === "c3" &&
                what === "k0scontroller runs" &&
                installed?.flag("debug") === "true"
            )
                setImmediate(() => sim.world.act(() => installed.crash("Error: cannot start")));
        });
        const lines = await linesOf(async () => {
            await assert.rejects(
                world.update("c3", made.id, made.outs, { installFlags: ["--debug"], timeouts: { api: 20 } }),
            );
        });
        assert.ok(
            lines.some((line) => line.includes("putting the old settings back … done")),
            lines.join("\n"),
        );
        assert.deepEqual(argsOf("c3"), before);
        sim.onEvent(undefined);
        await world.rest();
        const outs = await world.refresh("c3", made);
        assert.deepEqual(settings(outs), ["degraded", DRIFT]);
        const found = await world.update("c3", made.id, outs);
        assert.deepEqual(settings(found), ["ready", []]);
        sim.assertInvariants();
    });

    it("is given to a node whose join failed because of what k0s was given", async () => {
        world = await World.start([]);
        const { sim } = world;
        sim.onEvent(({ kind, what, host }) => {
            const { installed } = sim.find("w1").units;
            if (kind === "host" && host === "w1" && what === "k0sworker runs" && installed?.flag("profile") === "wrong")
                setImmediate(() => sim.world.act(() => installed.crash("Error: cannot start")));
        });
        const wrong = { installFlags: ["--profile=wrong"], timeouts: { ready: 20 } };
        const error = await world.create("w1", wrong).then(
            () => assert.fail("it joined"),
            (thrown: unknown) => thrown as { id: string; properties: Bag },
        );
        const found = await world.update("w1", error.id, error.properties, { installFlags: ["--profile=right"] });
        assert.deepEqual(settings(found), ["ready", []]);
        assert.ok(argsOf("w1").includes("--profile=right"));
    });

    it("is refused while another controller is broken, with nothing changed", async () => {
        world = await World.start(["c2", "c3"]);
        const made = await world.create("c3");
        const [before, running] = [argsOf("c3"), invocation("c3")];
        world.sim.find("c2").stopService();
        await assert.rejects(
            world.update("c3", made.id, made.outs, { installFlags: ["--debug"] }),
            /c2 .*is not healthy/,
        );
        assert.deepEqual([argsOf("c3"), invocation("c3")], [before, running]);
        assert.equal(world.sim.find("c3").files.text("/etc/pulumi-mke/node.json")?.includes("reinstall"), false);
    });

    it("reaches the only controller there is, and each of two", async () => {
        for (const others of [[], ["c2"]]) {
            world = await World.start(others);
            const made = await world.create("c1");
            const members = world.sim.members();
            const lines = await linesOf(async () => {
                const outs = await world.update("c1", made.id, made.outs, { installFlags: ["--debug"] });
                assert.deepEqual(settings(outs), ["ready", []]);
            });
            assert.ok(lines.some((line) => line.endsWith("nobody has a Kubernetes API until this controller is back")));
            assert.ok(argsOf("c1").includes("--debug=true"));
            assert.deepEqual(world.sim.members(), members);
            await world.close();
        }
    });
});
