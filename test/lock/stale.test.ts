import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Kube } from "../../provider/adapters/kube";
import { LockError } from "../../provider/errors";
import { apiAway } from "./fakes";
import { anotherProcess, CONTROL_PLANE, isHeld, LockScene } from "./scene";

/** A killed run of the scene's own stack, org/project/stack, and of somebody else's. */
const OURS = "org/project/stack/c1/0a0a";
const THEIRS = "org/project/other/c1/0a0a";

describe("a lock whose holder stopped renewing", () => {
    let scene: LockScene;

    beforeEach(() => {
        scene = new LockScene();
    });
    afterEach(() => scene.end());

    it("of our own stack is taken over when it was seen unchanged for its life, not when it only looks old", async () => {
        scene.leases.put({ name: CONTROL_PLANE, holder: OURS });
        await scene.clock.advance(3_600_000);
        const operation = await scene.start(scene.controlPlane());
        await scene.clock.advance(59_000);
        assert.equal(isHeld(operation), false);
        await scene.clock.advance(6000);
        assert.equal(isHeld(operation), true);
        assert.equal(scene.leases.get(CONTROL_PLANE)?.durationSeconds, 60);
        assert.match(scene.lines.join("\n"), /took over the lock pulumi-mke-control-plane of org\/project\/stack\/c1/);
    });

    it("of our own stack is over after the normal life, however long it was stretched, and beyond our patience", async () => {
        scene.leases.put({ name: CONTROL_PLANE, holder: OURS, durationSeconds: 900 });
        const operation = await scene.start(scene.controlPlane({ timeoutSeconds: 61 }));
        await scene.clock.advance(66_000);
        assert.equal(isHeld(operation), true);
    });

    it("of another owner is refused as soon as that is certain, with holder, age, and the input that takes it over", async () => {
        scene.leases.put({ name: CONTROL_PLANE, holder: THEIRS });
        await scene.clock.advance(3_600_000);
        const operation = await scene.start(scene.controlPlane({ timeoutSeconds: 600 }));
        await scene.clock.advance(59_000);
        assert.equal(operation.ended, false, "it might still be renewed");
        await scene.clock.advance(6000);
        assert.ok(operation.failure instanceof LockError);
        const { message } = operation.failure;
        assert.match(message, /held by org\/project\/other\/c1\/0a0a \(laptop, process 7\) for 366\d s/);
        assert.match(message, /it is stale: not renewed in the 6\d s that it was watched/);
        assert.match(message, /`lock\.adoptStale: true`.*kubectl .* delete lease.*\n.*runbook\.md#lock-held/);
        assert.equal(scene.leases.get(CONTROL_PLANE)?.holder, THEIRS, "nothing was changed");
    });

    it("of another owner is not waited for longer than we are told to", async () => {
        scene.leases.put({ name: CONTROL_PLANE, holder: THEIRS, durationSeconds: 900 });
        const atOnce = await scene.start(scene.controlPlane({ timeoutSeconds: 0, adoptStale: true }));
        assert.match(atOnce.failure?.message ?? "", /not waited for/);
        const patient = await scene.start(scene.controlPlane({ timeoutSeconds: 300 }));
        await scene.clock.advance(301_000);
        assert.match(patient.failure?.message ?? "", /gave up after 300 s.*\n.*`timeouts\.lock`.*\n.*#lock-held/);
    });

    it("of another owner is taken over where the program says so, after its whole stretched life", async () => {
        scene.leases.put({ name: CONTROL_PLANE, holder: THEIRS, durationSeconds: 900 });
        const operation = await scene.start(scene.controlPlane({ adoptStale: true }));
        await scene.clock.advance(899_000);
        assert.equal(isHeld(operation), false);
        await scene.clock.advance(6000);
        assert.equal(isHeld(operation), true);
    });

    it("is not stale because the API was away: nobody could renew it", async () => {
        scene.leases.put({ name: CONTROL_PLANE, holder: THEIRS });
        const operation = await scene.start(scene.controlPlane({ adoptStale: true }));
        await scene.clock.advance(55_000);
        scene.leases.failure = apiAway;
        await scene.clock.advance(10_000);
        scene.leases.failure = undefined;
        await scene.clock.advance(50_000);
        assert.equal(isHeld(operation), false);
        await scene.clock.advance(20_000);
        assert.equal(isHeld(operation), true);
    });

    it("keeps an operation on the control plane out, also when it locks only a node", async () => {
        scene.leases.put({ name: "pulumi-mke-node-w1", holder: THEIRS });
        const operation = await scene.start(scene.controlPlane());
        await scene.clock.advance(66_000);
        assert.match(operation.failure?.message ?? "", /pulumi-mke-node-w1 is held by .*stale/);
    });

    it("loses it before others do what it forbids: a holder that wakes up finds that it is gone", async () => {
        let asleep = false;
        const { kube } = scene.leases;
        const replaceLease: Kube["replaceLease"] = (lease) =>
            asleep ? Promise.reject(apiAway) : kube.replaceLease(lease);
        const request = scene.node("w1", { owner: "org/project/other/w1", kube: () => ({ ...kube, replaceLease }) });
        const theirs = await scene.start(request, anotherProcess());
        asleep = true;
        const ours = await scene.start(scene.controlPlane({ adoptStale: true }));
        await scene.clock.advance(66_000);
        assert.equal(isHeld(ours), true);
        assert.equal(scene.leases.get("pulumi-mke-node-w1")?.holder, "");
        await assert.rejects(theirs.held?.prove() ?? Promise.resolve(), LockError);
        asleep = false;
        await scene.clock.advance(25_000);
        await assert.rejects(theirs.held?.prove() ?? Promise.resolve(), /was released by somebody else/);
    });
});
