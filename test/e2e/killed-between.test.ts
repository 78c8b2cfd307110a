import assert from "node:assert/strict";
import { it } from "mocha";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import { MkeControllerNode } from "pulumi-mke";
import type { SimEvent } from "../sim";
import { seesProcesses } from "../support/engine-processes";
import { shortLocks } from "../support/short-locks";
import { assertWhole, CUT_SHORT, killed, type Moment, oldHalves } from "./ends";
import { leftOn } from "./machines";
import { describeEngine, type Scene, writesIn } from "./scene";

const OPTIONS = { engine: { env: shortLocks } };

function describeKills(title: string, tests: Parameters<typeof describeEngine>[1]): void {
    if (seesProcesses) describeEngine(title, tests, CUT_SHORT);
}

describeKills("a replacement whose run is killed after its create half", (start) => {
    it("of a tainted node on its own machine only forgets the old half next time", async () => {
        const scene = await start(["c2"], OPTIONS);
        const { sim, engine, program } = scene;
        sim.addSettled("c2", "controller+worker");
        const nodes = program(["c2"]);
        await engine.up(nodes);
        const daemon = sim.find("c2").units.daemon?.invocationId;
        for (const whom of ["cli and provider", "cli"] as const) {
            const { token } = await engine.outputsOf("c2");
            await engine.command("state", "taint", await engine.urnOf("c2"), "--yes");
            await killed(scene, whom, theDeleteLooksAt("c2"), () => engine.up(nodes));
            assert.deepEqual(await oldHalves(engine), ["c2"]);
            assert.notEqual((await engine.outputsOf("c2"))["token"], token);
            await engine.cancel();
            const began = sim.events.length;
            await engine.up(nodes);
            assert.deepEqual(await oldHalves(engine), []);
            assert.deepEqual(writesIn(sim, began), []);
            await assertWhole(scene, ["c2"], []);
        }
        assert.equal(sim.find("c2").units.daemon?.invocationId, daemon);
    });

    it("on another machine takes the old one out next time", async () => {
        const scene = await start(["c2", "c3"], OPTIONS);
        const { sim, engine } = scene;
        sim.addSettled("c2", "controller+worker");
        await engine.up(nodeOn(scene, "c2"));
        const moved = nodeOn(scene, "c3");
        const aMemberIsGone = ({ kind, what }: SimEvent): boolean => kind === "etcd" && what.endsWith(" removed");
        await killed(scene, "cli and provider", aMemberIsGone, () => engine.up(moved));
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c3"]);
        assert.deepEqual(await oldHalves(engine), ["node"]);
        assert.notDeepEqual(leftOn(sim.find("c2")), []);
        await engine.cancel();
        await engine.up(moved);
        assert.deepEqual(await oldHalves(engine), []);
        assert.deepEqual(leftOn(sim.find("c2")), []);
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c3"]);
        assert.deepEqual((await engine.up(moved)).changes, { same: 2 });
    });
});

describeKills("a change of k0s settings whose run is killed", (start) => {
    it("while a controller is restarted is finished by the next up, one controller at a time", async () => {
        const scene = await start(["c2", "c3", "w1"], OPTIONS);
        const { sim, engine, program } = scene;
        for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
        sim.addSettled("w1", "worker");
        const controllers = (installFlags: readonly string[]): PulumiFn =>
            program(["c2", "c3"], [], { installFlags: [...installFlags], allowStrandedWorkers: true });
        const workers = program([], ["w1"]);
        const nodes = (flags: readonly string[]): PulumiFn => {
            return () => Promise.all([controllers(flags)(), workers()]).then(() => undefined);
        };
        await engine.up(nodes([]));
        const members = sim.members();
        let most = 0;
        const aRestart: Moment = ({ kind, what, host, values }) => {
            const { voters } = sim.cluster.etcd;
            most = Math.max(most, voters.filter(({ id }) => !sim.cluster.etcd.isAlive(id)).length);
            return host !== "w1" && kind === "program" && what === "service" && values?.["ACTION"] === "restart";
        };
        for (const [whom, flags] of [
            ["cli and provider", ["--debug"]],
            ["cli", ["--debug", "--profile=large"]],
        ] as const) {
            await killed(scene, whom, aRestart, () => engine.up(nodes(flags)));
            await engine.cancel();
            await engine.up(nodes(flags));
            await assertWhole(scene, ["c2", "c3"], ["w1"]);
            for (const name of ["c2", "c3"]) {
                const { installed } = sim.find(name).units;
                for (const flag of flags)
                    assert.equal(installed?.flag(flag.slice(2).split("=")[0] ?? ""), valueOf(flag));
            }
            assert.deepEqual((await engine.up(nodes(flags))).changes, { same: 4 });
        }
        assert.deepEqual(sim.members(), members, "member IDs stay");
        assert.ok(most <= 1, `${most} voters were away at once`);
    });
});

function valueOf(flag: string): string {
    return flag.split("=")[1] ?? "true";
}

/** The first look at the host after the create, which ends with its lock. */
function theDeleteLooksAt(name: string): Moment {
    let hasEnded = false;
    return ({ kind, what, host }) => {
        hasEnded ||= kind === "api-write" && /^DELETE .*\/leases\/pulumi-mke-control-plane$/.test(what);
        return hasEnded && kind === "program" && host === name;
    };
}

/** One resource, a controller on that machine. */
function nodeOn({ sim }: Scene, name: string): PulumiFn {
    const addressOf = (host: string) => ({ host: sim.find(host).address, connection: sim.connectionArgs(host) });
    return () => {
        new MkeControllerNode("node", {
            ...addressOf(name),
            cluster: { controllers: ["c1", "c2", "c3"].map(addressOf) },
            preflight: { os: false, minDiskMiB: false },
        });
        return Promise.resolve();
    };
}
