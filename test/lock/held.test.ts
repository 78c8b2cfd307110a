import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { LockError } from "../../provider/errors";
import type { OperationRecord } from "../../provider/facts/host";
import { apiAway } from "./fakes";
import { CONTROL_PLANE, LockScene } from "./scene";

const RECORD: OperationRecord = {
    id: "o1",
    kind: "remove",
    owner: "me",
    target: "c3",
    baseline: ["a", "b"],
    removing: "b",
};

describe("a lock that is held", () => {
    let scene: LockScene;

    beforeEach(() => {
        scene = new LockScene();
    });
    afterEach(() => scene.end());

    it("renews every 20 s", async () => {
        await scene.start(scene.controlPlane());
        const before = scene.leases.writes.length;
        await scene.clock.advance(61_000);
        assert.equal(scene.leases.writes.length - before, 3);
    });

    it("keeps renewing through an outage of the API, through whatever connection there is then", async () => {
        let kube = scene.leases.kube;
        const operation = await scene.start(scene.controlPlane({ kube: () => kube }));
        scene.leases.failure = apiAway;
        await scene.clock.advance(45_000);
        await assert.rejects(operation.held?.prove() ?? Promise.resolve(), apiAway);
        kube = { ...scene.leases.kube };
        scene.leases.failure = undefined;
        await scene.clock.advance(3000);
        await operation.held?.prove();
    });

    it("is proven by reading the Lease again", async () => {
        const { held } = await scene.start(scene.controlPlane());
        await held?.prove();
        // a Lease that is taken over stays the same object
        scene.leases.put({ name: CONTROL_PLANE, holder: "a thief", uid: held?.lease.uid ?? "" });
        await assert.rejects(held?.prove() ?? Promise.resolve(), (error: Error) => {
            assert.ok(error instanceof LockError);
            assert.match(error.message, /held by a thief now/);
            return true;
        });
        await assert.rejects(held?.stretch(900) ?? Promise.resolve(), LockError);
    });

    it("is lost when somebody deletes the Lease, and the thief's is left alone", async () => {
        const operation = await scene.start(scene.controlPlane());
        scene.leases.remove(CONTROL_PLANE);
        scene.leases.put({ name: CONTROL_PLANE, holder: "a thief" });
        await scene.clock.advance(21_000);
        await operation.finish();
        assert.equal(scene.leases.get(CONTROL_PLANE)?.holder, "a thief");
    });

    it("is lost when its Lease was deleted and made again, also with our holder in it", async () => {
        const { held } = await scene.start(scene.controlPlane());
        scene.leases.put({ name: CONTROL_PLANE, holder: held?.lease.holder ?? "", uid: "made again" });
        await assert.rejects(held?.prove() ?? Promise.resolve(), LockError);
    });

    it("survives an annotation that somebody else writes", async () => {
        const { held } = await scene.start(scene.controlPlane());
        const lease = scene.leases.get(CONTROL_PLANE);
        assert.ok(lease);
        scene.leases.put({ ...lease, annotations: { ...lease.annotations, note: "hello" } });
        await held?.record(RECORD);
        assert.equal(scene.leases.get(CONTROL_PLANE)?.annotations["note"], "hello");
    });

    it("is not proven once the last renewal is too long ago", async () => {
        const { held } = await scene.start(scene.controlPlane());
        scene.leases.failure = apiAway;
        await scene.clock.advance(55_000);
        await assert.rejects(held?.prove() ?? Promise.resolve(), /last renewed 55 s ago and lives 60 s/);
    });

    it("is not proven by a process that slept through its life", async () => {
        const { held } = await scene.start(scene.controlPlane());
        scene.clock.suspend(3_600_000);
        await assert.rejects(held?.prove() ?? Promise.resolve(), LockError);
    });

    it("lives 15 minutes around a join, through an API that is away, and 60 s again afterwards", async () => {
        const { held } = await scene.start(scene.controlPlane());
        await held?.stretch(900);
        assert.equal(scene.leases.get(CONTROL_PLANE)?.durationSeconds, 900);
        scene.leases.failure = apiAway;
        await scene.clock.advance(600_000);
        scene.leases.failure = undefined;
        await held?.prove();
        await held?.stretch(60);
        assert.equal(scene.leases.get(CONTROL_PLANE)?.durationSeconds, 60);
        assert.equal(held?.lease.resourceVersion, scene.leases.get(CONTROL_PLANE)?.resourceVersion);
    });

    it("is given back once the API answers again, or through another controller before that", async () => {
        const late = await scene.start(scene.controlPlane());
        scene.leases.failure = apiAway;
        const finishing = late.finish();
        await scene.clock.advance(25_000);
        scene.leases.failure = undefined;
        await scene.clock.advance(5_000);
        await finishing;
        assert.equal(scene.leases.get(CONTROL_PLANE), undefined);

        let isClosed = false;
        const { kube } = scene.leases;
        const away = { ...kube, deleteLease: () => Promise.reject(apiAway) };
        let own = kube;
        const elsewhere = async (): Promise<{ kube: typeof kube; close(): void }> => ({
            kube,
            close: () => (isClosed = true),
        });
        const cut = await scene.start(scene.controlPlane({ kube: () => own, elsewhere }));
        own = away;
        const ending = cut.finish();
        await scene.clock.advance(5_000);
        await ending;
        assert.deepEqual([scene.leases.get(CONTROL_PLANE), isClosed], [undefined, true]);
    });

    it("shows what the operation is about, and no more once it succeeded", async () => {
        const operation = await scene.start(scene.controlPlane());
        await operation.held?.record(RECORD);
        assert.deepEqual(
            JSON.parse(scene.leases.get(CONTROL_PLANE)?.annotations["pulumi-mke/operation"] ?? ""),
            RECORD,
        );
        await operation.finish();
        assert.equal(scene.leases.get(CONTROL_PLANE), undefined);
    });

    it("leaves behind what a failed operation was about, for the next holder", async () => {
        const failed = await scene.start(scene.controlPlane());
        await failed.held?.record(RECORD);
        await failed.finish(new Error("broken"));
        assert.equal(scene.leases.get(CONTROL_PLANE)?.holder, "");
        const next = await scene.start(scene.controlPlane());
        assert.deepEqual(next.held?.found, RECORD);
        await next.finish();
        assert.deepEqual(
            (await scene.start(scene.controlPlane())).held?.found,
            RECORD,
            "not answered, so not forgotten",
        );
    });

    it("keeps what is unfinished elsewhere through other operations, until that one is brought to its end", async () => {
        const about = (target: string): object => ({ owner: "me", target });
        const killed = await scene.start(scene.controlPlane(about("c3")));
        await killed.held?.record(RECORD);
        await killed.finish(new Error("killed"));
        for (const [target, end] of [
            ["c4", undefined],
            ["c5", new Error("broken")],
        ] as const) {
            const other = await scene.start(scene.controlPlane(about(target)));
            await other.held?.record({ ...RECORD, id: target, target });
            await other.finish(end);
        }
        const again = await scene.start(scene.controlPlane(about("c3")));
        assert.deepEqual(again.held?.found, RECORD);
        await again.held.record({ ...RECORD, id: "o2" });
        await again.finish();
        const last = await scene.start(scene.controlPlane(about("c5")));
        assert.equal(last.held?.found?.id, "c5");
        await last.held.record({ ...RECORD, id: "o3", target: "c5" });
        await last.finish();
        assert.equal(scene.leases.get(CONTROL_PLANE), undefined);
    });

    it("keeps the latest record where earlier versions look for it", async () => {
        const annotations = { "pulumi-mke/operation": JSON.stringify(RECORD) };
        scene.leases.put({ name: CONTROL_PLANE, holder: "", annotations });
        const other = await scene.start(scene.controlPlane({ owner: "me", target: "c4" }));
        const latest = (): string | undefined => scene.leases.get(CONTROL_PLANE)?.annotations["pulumi-mke/operation"];
        await other.held?.record({ ...RECORD, id: "o2", target: "c4" });
        assert.equal((JSON.parse(latest() ?? "") as OperationRecord).id, "o2");
        await other.finish();
        assert.deepEqual(JSON.parse(latest() ?? ""), RECORD);
    });

    it("asks nothing of a cluster that ended with the operation", async () => {
        const operation = await scene.start(scene.controlPlane());
        const before = scene.leases.writes.length;
        operation.held?.forget();
        scene.leases.failure = apiAway;
        await scene.clock.advance(61_000);
        await operation.finish();
        assert.equal(scene.leases.writes.length, before);
        assert.deepEqual(scene.lines, []);
    });

    it("finds what a killed operation was about", async () => {
        const annotations = { "pulumi-mke/operation": JSON.stringify(RECORD) };
        scene.leases.put({ name: CONTROL_PLANE, holder: "org/project/stack/c3/0a0a", annotations });
        const operation = await scene.start(scene.controlPlane());
        await scene.clock.advance(65_000);
        assert.deepEqual(operation.held?.found, RECORD);
    });
});
