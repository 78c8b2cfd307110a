import assert from "node:assert/strict";
import { it } from "mocha";
import { assertCluster, everything, untilNodesAreSteady } from "./checks";
import { describeOnLab } from "./lab";
import { c1, c2, c3, on, w1 } from "./machines";
import { BUDGET, podsOf, REPLICAS, replicasDuring, startPods } from "./pods";

describeOnLab("nodes of a real cluster", (lab) => {
    it("joins two controllers and a worker to the first controller", async () => {
        await lab().up({ controllers: [c2, c3], workers: [w1] });
        await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
    });

    it("changes nothing when run again", async () => {
        const { changes } = await lab().up({ controllers: [c2, c3], workers: [w1] });
        assert.deepEqual(changes, { same: 4 });
    });

    it("shows on refresh that k0s was stopped on the worker, and starts it again", async () => {
        await on(w1, "systemctl stop k0sworker");
        await lab().engine.refresh();
        const drifted = await lab().engine.outputsOf("w1");
        assert.equal(drifted["status"], "degraded");
        assert.notDeepEqual(drifted["drift"], []);
        await lab().up({ controllers: [c2, c3], workers: [w1] });
        assert.equal((await on(w1, "systemctl is-active k0sworker")).trim(), "active");
        assert.equal((await lab().engine.outputsOf("w1"))["status"], "ready");
        const { changes } = await lab().up({ controllers: [c2, c3], workers: [w1] });
        assert.deepEqual(changes, { same: 4 });
    });

    it("refuses a worker resource that points at a controller, and changes nothing", async () => {
        const before = await everything(c1, [c1]);
        const refusal = await lab().refusalOf({ controllers: [c2, c3], workers: [w1, c1] });
        assert.match(refusal, /the resource is a worker, the host is not/);
        assert.match(refusal, /docs\/runbook\.md#wrong-role/);
        assert.deepEqual(await everything(c1, [c1]), before);
        assert.deepEqual((await lab().up({ controllers: [c2, c3], workers: [w1] })).changes, { same: 4 });
    });

    it("keeps the disruption budget of a Deployment while its worker goes, and is not held up by a DaemonSet", async () => {
        await untilNodesAreSteady(c1);
        await startPods(c1);
        const onWorker = (await podsOf(c1, "shop")).filter(({ node }) => node === w1.name);
        assert.ok(onWorker.length > REPLICAS - BUDGET, "a removal without regard to the budget would not break it");
        const printed = lab().said.length;
        const ready = await replicasDuring(c1, () => lab().up({ controllers: [c2, c3] }));
        console.log(`  ready replicas while the worker left: ${ready.join(" ")}`);
        assert.ok(ready.length > onWorker.length, "the watch saw too little");
        assert.ok(Math.min(...ready) >= BUDGET, `fewer than ${BUDGET} replicas were ready`);
        await assertCluster({ controllers: [c1, c2, c3], blank: [w1] });
        const evicted = new RegExp(`w1: draining … ${onWorker.length} pods evicted`);
        assert.match(lab().said.slice(printed), evicted, "the DaemonSet's pod is none of them");
    });
});
