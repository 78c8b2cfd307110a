import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { anotherProcess, CONTROL_PLANE, isHeld, LockScene } from "./scene";

const FIRST = "pulumi-mke-drain-0";
const SECOND = "pulumi-mke-drain-1";

describe("turns to drain", () => {
    let scene: LockScene;

    beforeEach(() => {
        scene = new LockScene();
    });
    afterEach(() => scene.end());

    it("are taken one at a time, in the order they were asked for, however long that takes", async () => {
        const three = [
            await scene.start(scene.drain(1)),
            await scene.start(scene.drain(1)),
            await scene.start(scene.drain(1)),
        ];
        assert.deepEqual(three.map(isHeld), [true, false, false]);
        await scene.clock.advance(3_600_000);
        assert.deepEqual(three.map(isHeld), [true, false, false]);
        await three[0]?.finish();
        await scene.clock.advance(0);
        assert.deepEqual(three.map(isHeld), [false, true, false]);
        assert.match(scene.lines.join("\n"), /waiting for 1 other operation.*\n.*waiting for 2 other/);
    });

    it("are as many as the program says, each with a Lease of its own", async () => {
        const three = [
            await scene.start(scene.drain(2)),
            await scene.start(scene.drain(2)),
            await scene.start(scene.drain(2)),
        ];
        assert.deepEqual(three.map(isHeld), [true, true, false]);
        assert.ok(scene.leases.get(FIRST) && scene.leases.get(SECOND));
        await three[0]?.finish(new Error("broken"));
        await scene.clock.advance(0);
        assert.deepEqual(three.map(isHeld), [false, true, true]);
    });

    it("are shared with other processes", async () => {
        const theirs = await scene.start(scene.drain(1), anotherProcess());
        const ours = await scene.start(scene.drain(1));
        await scene.clock.advance(30_000);
        assert.deepEqual([theirs, ours].map(isHeld), [true, false]);
        await theirs.finish();
        await scene.clock.advance(4000);
        assert.equal(isHeld(ours), true);
    });

    it("of another process are waited for as long as any lock", async () => {
        await scene.start(scene.drain(1), anotherProcess());
        const ours = await scene.start(scene.drain(1, { timeoutSeconds: 30 }));
        await scene.clock.advance(31_000);
        assert.match(ours.failure?.message ?? "", /pulumi-mke-drain-0 is held by .*gave up after 30 s/);
    });

    it("bind only the operation that is careful: one that accepts two drains beside one that accepts one", async () => {
        const careful = await scene.start(scene.drain(1), anotherProcess());
        const bold = await scene.start(scene.drain(2));
        assert.deepEqual([careful, bold].map(isHeld), [true, true]);
        await careful.finish();
        const next = await scene.start(scene.drain(1), anotherProcess());
        await scene.clock.advance(30_000);
        assert.equal(isHeld(next), false, "one drains, in whatever turn");
        await bold.finish();
        await scene.clock.advance(4000);
        assert.equal(isHeld(next), true);
    });

    it("do not keep anybody from the control plane or a node, nor the other way round", async () => {
        const all = [
            await scene.start(scene.drain(1), anotherProcess()),
            await scene.start(scene.controlPlane()),
            await scene.start(scene.drain(2)),
        ];
        assert.deepEqual(all.map(isHeld), [true, true, true]);
        assert.ok(scene.leases.get(CONTROL_PLANE));
    });

    it("of a killed run of our own stack are free again when their time is over, those of others are not", async () => {
        scene.leases.put({ name: FIRST, holder: "org/project/stack/w1/0a0a" });
        const ours = await scene.start(scene.drain(1));
        await scene.clock.advance(66_000);
        assert.equal(isHeld(ours), true);
        await ours.finish();
        scene.leases.put({ name: FIRST, holder: "org/project/other/w1/0a0a" });
        const second = await scene.start(scene.drain(1));
        await scene.clock.advance(66_000);
        assert.match(second.failure?.message ?? "", /stale.*\n.*`lock\.adoptStale: true`/);
    });

    it("wait for a living holder where a dead one takes only one of two", async () => {
        scene.leases.put({ name: FIRST, holder: "org/project/other/w1/0a0a" });
        const theirs = await scene.start(scene.drain(2), anotherProcess());
        const ours = await scene.start(scene.drain(2, { adoptStale: false }));
        await scene.clock.advance(90_000);
        assert.deepEqual([theirs, ours].map(isHeld), [true, false]);
        assert.equal(ours.ended, false);
        await theirs.finish();
        await scene.clock.advance(4000);
        assert.equal(isHeld(ours), true);
        assert.ok(scene.leases.get(SECOND));
    });

    it("of two processes that ask in the same moment go to one of them", async () => {
        const other = anotherProcess();
        for (let round = 0; round < 20; round += 1) {
            const pair = [scene.start(scene.drain(1)), scene.start(scene.drain(1), other)];
            const operations = await Promise.all(pair);
            for (let step = 0; step < 60 && !operations.some(isHeld); step += 1) await scene.clock.advance(500);
            assert.equal(operations.filter(isHeld).length, 1);
            for (const one of [...operations].sort((a, b) => Number(isHeld(b)) - Number(isHeld(a)))) {
                for (let step = 0; step < 60 && !isHeld(one); step += 1) await scene.clock.advance(500);
                assert.equal(isHeld(one), true);
                await one.finish();
            }
        }
    });
});
