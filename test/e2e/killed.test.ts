import assert from "node:assert/strict";
import { it } from "mocha";
import { RESOURCES, type SimEvent } from "../sim";
import { seesProcesses } from "../support/engine-processes";
import { shortLocks } from "../support/short-locks";
import {
    allEnded,
    assertUnlocked,
    assertWhole,
    at,
    CUT_SHORT,
    killed,
    locks,
    type Moment,
    pending,
    runs,
} from "./ends";
import { describeEngine, writesOn } from "./scene";

const OPTIONS = { engine: { env: shortLocks } };

function aMemberIsGone({ kind, what }: SimEvent): boolean {
    return kind === "etcd" && what.endsWith(" removed");
}

function aControllerIsInstalled(event: SimEvent): boolean {
    return runs("c2", "install-service")(event) || runs("c3", "install-service")(event);
}

function describeKills(title: string, tests: Parameters<typeof describeEngine>[1]): void {
    if (seesProcesses) describeEngine(title, tests, CUT_SHORT);
}

describeKills("a `pulumi up` that creates, its CLI killed", (start) => {
    it("begins nothing that was queued, gives its locks back and ends; the next up finishes it", async () => {
        const scene = await start(["c2", "c3", "w1"], OPTIONS);
        const { sim, engine, program } = scene;
        const nodes = program(["c2", "c3"], ["w1"]);
        await killed(scene, "cli", aControllerIsInstalled, () => engine.up(nodes));
        // One of the two waited for the lock of the other.
        const queued = ["c2", "c3"].filter((name) => writesOn(sim, name).length === 0);
        assert.equal(queued.length, 1);
        assertUnlocked(sim);
        await assert.rejects(engine.up(nodes), /pulumi cancel/);
        await engine.cancel();
        assert.deepEqual(await engine.outputsOf("c2"), {});
        // Those that the engine had come to when it died.
        const begun = (await pending(engine)).sort();
        assert.ok(
            begun.some((one) => /^creating c[23]$/.test(one)),
            begun.join(", "),
        );
        await engine.refresh();
        const { changes } = await engine.up(nodes);
        assert.equal(changes["create"], 3);
        await assertWhole(scene, ["c2", "c3"], ["w1"]);
        assert.deepEqual((await pending(engine)).sort(), begun);
        await engine.refresh({ clearPendingCreates: true });
        assert.deepEqual(await pending(engine), []);
        assert.deepEqual((await engine.up(nodes)).changes, { same: 4 });
    });

    it("is picked up where its provider died with it, in the middle of a join", async () => {
        const scene = await start(["c2", "w1"], OPTIONS);
        const { sim, engine, program } = scene;
        const nodes = program(["c2"], ["w1"]);
        const learns = ({ kind, what }: SimEvent): boolean => kind === "etcd" && what.includes("10.77.0.12");
        await killed(scene, "cli and provider", learns, () => engine.up(nodes));
        assert.notEqual(locks(sim)["pulumi-mke-control-plane"], "");
        await engine.cancel();
        await engine.up(nodes);
        await assertWhole(scene, ["c2"], ["w1"]);
        assert.match(engine.output.join(""), /took (over )?the lock pulumi-mke-control-plane/);
    });
});

describeKills("a `pulumi up` that removes, its CLI killed", (start) => {
    it("leaves a drain that has no end, and goes on with it next time", async () => {
        const scene = await start(["w1"], OPTIONS);
        const { sim, engine, program } = scene;
        sim.addSettled("w1", "worker");
        await engine.up(program([], ["w1"]));
        sim.addPod("w1", { name: "db", blocked: true });
        const evicting = ({ kind, what }: SimEvent): boolean => kind === "api-write" && what.endsWith("/eviction");
        await killed(scene, "cli", evicting, () => engine.up(program([], [])));
        assertUnlocked(sim);
        assert.equal(sim.find("w1").units.installed?.active, "active");
        assert.deepEqual(await pending(engine), ["deleting w1"]);
        sim.cluster.store.delete(RESOURCES.pods, "db", "default");
        await engine.cancel();
        await engine.up(program([], []));
        await assertWhole(scene, [], []);
        await engine.refresh();
        assert.deepEqual(await pending(engine), []);
    });

    it("sees a leave through, and resets the machine next time", async () => {
        const scene = await start(["c2", "c3"], OPTIONS);
        const { sim, engine, program } = scene;
        for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
        await engine.up(program(["c2", "c3"]));
        const leaving = ({ kind, what }: SimEvent): boolean =>
            kind === "api-write" && /PATCH.*etcdmembers\/c3$/.test(what);
        await killed(scene, "cli", leaving, () => engine.up(program(["c2"])));
        assert.deepEqual(scene.sim.memberNames(), ["c1", "c2"]);
        assert.notEqual(sim.find("c3").units.installed, undefined);
        assertUnlocked(sim);
        await engine.cancel();
        await engine.up(program(["c2"]));
        await assertWhole(scene, ["c2"], []);
    });

    it("is finished by the next one where its provider died with it, between the leave and the reset", async () => {
        const scene = await start(["c2", "c3"], OPTIONS);
        const { sim, engine, program } = scene;
        for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
        await engine.up(program(["c2", "c3"]));
        await killed(scene, "cli and provider", aMemberIsGone, () => engine.up(program(["c2"])));
        await engine.cancel();
        await engine.up(program(["c2"]));
        await assertWhole(scene, ["c2"], []);
    });
});

describeKills("a rebuild whose CLI is killed", (start) => {
    it("goes on with the machine that the old member left", async () => {
        const scene = await start(["c2", "c3"], OPTIONS);
        const { sim, engine, program } = scene;
        for (const name of ["c2", "c3"]) sim.addSettled(name, "controller+worker");
        const nodes = program(["c2", "c3"]);
        await engine.up(nodes);
        sim.find("c3").wipe();
        await engine.refresh();
        await killed(scene, "cli", aMemberIsGone, () => engine.up(nodes));
        assertUnlocked(sim);
        await engine.cancel();
        await engine.up(nodes);
        await assertWhole(scene, ["c2", "c3"], []);
    });
});

describeKills("Ctrl-C during a `pulumi up`", (start) => {
    it("lets what was begun come to its end, and keeps it in state", async () => {
        const interrupt = new AbortController();
        const scene = await start(["c2", "w1"]);
        const { sim, engine, program } = scene;
        let isInstalled = false;
        const bothHaveBegun: Moment = (event) => {
            isInstalled ||= runs("c2", "install-service")(event);
            return isInstalled && /w1 creating/.test(engine.output.join(""));
        };
        const isDone = at(sim, bothHaveBegun, () => interrupt.abort());
        await assert.rejects(engine.up(program(["c2"], ["w1"]), { signal: interrupt.signal }), /cancel/);
        assert.ok(isDone());
        await allEnded(engine);
        await assertWhole(scene, ["c2"], ["w1"]);
        assert.deepEqual((await engine.up(program(["c2"], ["w1"]))).changes, { same: 3 });
    });
});
