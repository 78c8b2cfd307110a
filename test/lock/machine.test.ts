import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { LockRequest } from "../../provider/lock";
import { anotherProcess, CONTROL_PLANE, isHeld, LockScene } from "./scene";

const MACHINE = "pulumi-mke/machine";

/** Two programs may give one blank machine two names, or two roles. */
describe("the lock of a node covers its machine", () => {
    let scene: LockScene;

    beforeEach(() => {
        scene = new LockScene();
    });
    afterEach(() => scene.end());

    function on(machine: string, request: LockRequest): LockRequest {
        return { ...request, kind: { ...request.kind, machine } };
    }

    it("against another name in the same process, which queues", async () => {
        const first = await scene.start(on("m1", scene.node("node-a")));
        const second = await scene.start(on("m1", scene.node("node-b")));
        const third = await scene.start(on("m2", scene.node("node-c")));
        assert.deepEqual([first, second, third].map(isHeld), [true, false, true]);
        await first.finish();
        await scene.clock.advance(0);
        assert.equal(isHeld(second), true);
    });

    it("against another name in another process, which takes nothing until it is free", async () => {
        const ours = await scene.start(on("m1", scene.node("node-a")));
        const theirs = await scene.start(on("m1", scene.node("node-b")), anotherProcess());
        await scene.clock.advance(30_000);
        assert.deepEqual([isHeld(ours), isHeld(theirs)], [true, false]);
        assert.equal(scene.leases.get("pulumi-mke-node-node-b"), undefined);
        await ours.finish();
        await scene.clock.advance(5000);
        assert.equal(isHeld(theirs), true);
    });

    it("against a controller's operation on it in the same process, but not against others", async () => {
        const controller = await scene.start(on("m1", scene.controlPlane()));
        const same = await scene.start(on("m1", scene.node("w1")));
        const other = await scene.start(on("m2", scene.node("w2")));
        assert.deepEqual([controller, same, other].map(isHeld), [true, false, true]);
        await controller.finish();
        await scene.clock.advance(0);
        assert.equal(isHeld(same), true);
    });

    it("until its killed holder is stale, as its name does", async () => {
        scene.leases.put({
            name: "pulumi-mke-node-a",
            holder: "org/project/stack/a/0a0a",
            annotations: { [MACHINE]: "m1" },
        });
        const next = await scene.start(on("m1", scene.node("b")));
        await scene.clock.advance(50_000);
        assert.equal(isHeld(next), false);
        await scene.clock.advance(20_000);
        assert.equal(isHeld(next), true);
        assert.equal(scene.leases.get("pulumi-mke-node-a")?.holder, "");
    });

    it("and not that of an earlier holder, nor where an earlier version wrote no machine", async () => {
        scene.leases.put({ name: CONTROL_PLANE, holder: "", annotations: { [MACHINE]: "m1" } });
        const controller = await scene.start(scene.controlPlane());
        assert.equal(scene.leases.get(CONTROL_PLANE)?.annotations[MACHINE], undefined);
        await controller.finish();
        scene.leases.put({ name: "pulumi-mke-node-a", holder: "their/stack/a/0a0a" });
        assert.equal(isHeld(await scene.start(on("m1", scene.node("b")))), true);
    });
});
