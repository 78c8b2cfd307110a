import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { LockError } from "../../provider/errors";
import type { Kube } from "../../provider/adapters/kube";
import { apiAway, FakeLeases } from "./fakes";
import { anotherProcess, CONTROL_PLANE, isHeld, LockScene, Operation } from "./scene";

describe("the lock of a cluster", () => {
    let scene: LockScene;

    beforeEach(() => {
        scene = new LockScene();
    });
    afterEach(() => scene.end());

    describe("taking it", () => {
        it("creates a Lease of 60 s with a holder of its own, and deletes it in the end", async () => {
            const operation = await scene.start(scene.controlPlane());
            const lease = scene.leases.get(CONTROL_PLANE);
            assert.match(lease?.holder ?? "", /^org\/project\/stack\/c3\/[0-9a-f]{12}$/);
            assert.equal(lease?.durationSeconds, 60);
            await operation.finish();
            assert.equal(scene.leases.get(CONTROL_PLANE), undefined);
        });

        it("gives it back when the operation fails, with the operation's error", async () => {
            const operation = await scene.start(scene.node("w1"));
            assert.ok(scene.leases.get("pulumi-mke-node-w1"));
            await operation.finish(new Error("broken"));
            assert.equal(operation.failure?.message, "broken");
            assert.equal(scene.leases.get("pulumi-mke-node-w1"), undefined);
        });

        it("aborts at once with a time limit of 0, and names holder, place, age and the way out", async () => {
            scene.leases.put({ name: CONTROL_PLANE, holder: "their/stack/c1/0a0a", durationSeconds: 900 });
            await scene.clock.advance(90_000);
            const { failure } = await scene.start(scene.controlPlane({ timeoutSeconds: 0 }));
            assert.ok(failure instanceof LockError);
            assert.match(
                failure.message,
                /held by their\/stack\/c1\/0a0a \(laptop, process 7\) for 90 s, last renewed .* expires 900 s after/,
            );
            assert.match(failure.message, /kubectl -n kube-system delete lease pulumi-mke-control-plane/);
        });

        it("waits as long as it is told to while the other renews, and says so more and more seldom", async () => {
            scene.leases.put({ name: CONTROL_PLANE });
            const operation = await scene.start(scene.controlPlane({ timeoutSeconds: 300 }));
            for (let second = 0; second < 299; second += 1) {
                if (second % 20 === 0) scene.leases.put({ name: CONTROL_PLANE });
                await scene.clock.advance(1000);
            }
            assert.equal(operation.ended, false);
            await scene.clock.advance(2000);
            assert.ok(operation.failure instanceof LockError);
            assert.ok(scene.lines.length >= 3 && scene.lines.length <= 7, scene.lines.join("\n"));
            assert.match(
                scene.lines[0] ?? "",
                /waiting for the lock pulumi-mke-control-plane: .* held by somebody\/else/,
            );
        });

        it("gets it soon after the other lets go", async () => {
            scene.leases.put({ name: CONTROL_PLANE });
            const operation = await scene.start(scene.controlPlane());
            assert.equal(isHeld(operation), false);
            scene.leases.remove(CONTROL_PLANE);
            await scene.clock.advance(4000);
            assert.equal(isHeld(operation), true);
        });

        it("waits out an API that is away, and fails with its error at the end", async () => {
            scene.leases.failure = apiAway;
            const operation = await scene.start(scene.controlPlane({ timeoutSeconds: 30 }));
            assert.equal(operation.ended, false);
            await scene.clock.advance(31_000);
            assert.equal(operation.failure, apiAway);
        });

        it("finds its own Lease when the answer to its creation was lost", async () => {
            let answersLost = 1;
            const forgetful: Kube = {
                ...scene.leases.kube,
                createLease: async (lease) => {
                    const created = await scene.leases.kube.createLease(lease);
                    answersLost -= 1;
                    if (answersLost >= 0) throw apiAway;
                    return created;
                },
            };
            const operation = await scene.start(scene.controlPlane({ kube: () => forgetful }));
            await scene.clock.advance(4000);
            assert.equal(isHeld(operation), true);
        });
    });

    describe("several operations", () => {
        it("queue inside one process, first come, first served", async () => {
            const operations = [
                await scene.start(scene.controlPlane()),
                await scene.start(scene.controlPlane()),
                await scene.start(scene.controlPlane()),
            ];
            assert.deepEqual(operations.map(isHeld), [true, false, false]);
            await operations[0]?.finish();
            await scene.clock.advance(0);
            assert.deepEqual(operations.map(isHeld), [false, true, false]);
            assert.match(scene.lines.join("\n"), /waiting for 1 other operation.*\n.*waiting for 2 other/);
        });

        it("do not take a lock that has become useless while they queued", async () => {
            const useless = new Error("its controller was removed");
            let removed = false;
            const proceed = (): void => {
                if (removed) throw useless;
            };
            const [first, second, third] = [
                await scene.start(scene.controlPlane({ proceed })),
                await scene.start(scene.controlPlane({ proceed })),
                await scene.start(scene.controlPlane()),
            ];
            removed = true;
            await first.finish();
            await scene.clock.advance(0);
            assert.equal(second.failure, useless);
            assert.equal(isHeld(third), true);
        });

        it("go on after one of them failed", async () => {
            const [first, second] = [await scene.start(scene.controlPlane()), await scene.start(scene.controlPlane())];
            await first.finish(new Error("broken"));
            await scene.clock.advance(0);
            assert.equal(isHeld(second), true);
        });

        it("on different workers run side by side, also beside the control plane of the same process", async () => {
            const operations = [
                await scene.start(scene.controlPlane()),
                await scene.start(scene.node("w1")),
                await scene.start(scene.node("w2")),
            ];
            assert.deepEqual(operations.map(isHeld), [true, true, true]);
        });

        it("of different clusters do not know of each other", async () => {
            await scene.start(scene.controlPlane());
            const elsewhere = new FakeLeases(scene.clock);
            const other = await scene.start(scene.controlPlane({ clusterId: "elsewhere", kube: () => elsewhere.kube }));
            assert.equal(isHeld(other), true);
        });

        it("of two processes run side by side on different workers", async () => {
            const [ours, theirs] = [
                await scene.start(scene.node("w1")),
                await scene.start(scene.node("w2"), anotherProcess()),
            ];
            assert.deepEqual([isHeld(ours), isHeld(theirs)], [true, true]);
        });

        it("of two processes never hold the control plane and a node at a time, whoever comes first", async () => {
            const ours = await scene.start(scene.controlPlane());
            const theirs = await scene.start(scene.node("w1"), anotherProcess());
            await scene.clock.advance(30_000);
            assert.deepEqual([isHeld(ours), isHeld(theirs)], [true, false]);
            assert.equal(scene.leases.get("pulumi-mke-node-w1"), undefined);
            await ours.finish();
            await scene.clock.advance(4000);
            const again = await scene.start(scene.controlPlane());
            await scene.clock.advance(30_000);
            assert.deepEqual([isHeld(theirs), isHeld(again)], [true, false]);
            await theirs.finish();
            await scene.clock.advance(4000);
            assert.equal(isHeld(again), true);
        });

        it("of two processes that start in the same moment do not both get it, and one does in the end", async () => {
            const other = anotherProcess();
            for (let round = 0; round < 20; round += 1) {
                const pair = [new Operation(scene.controlPlane()), new Operation(scene.node("w1"), other)];
                let both = false;
                for (let step = 0; step < 60 && !pair.some(isHeld); step += 1) {
                    await scene.clock.advance(500);
                    both ||= pair.every(isHeld);
                }
                assert.equal(both, false);
                assert.equal(pair.filter(isHeld).length, 1);
                for (const one of [...pair].sort((a, b) => Number(isHeld(b)) - Number(isHeld(a)))) {
                    for (let step = 0; step < 60 && !isHeld(one); step += 1) await scene.clock.advance(500);
                    await one.finish();
                }
            }
        });

        it("are not kept waiting by an operation of the same process that ended without an API to tell it to", async () => {
            const first = await scene.start(scene.controlPlane());
            scene.leases.failure = apiAway;
            const finishing = first.finish();
            await scene.clock.advance(70_000);
            await finishing;
            scene.leases.failure = undefined;
            assert.ok(scene.leases.get(CONTROL_PLANE));
            assert.match(scene.lines.join("\n"), /could not be given back, and is renewed no more/);
            assert.equal(isHeld(await scene.start(scene.controlPlane())), true);
        });
    });
});
