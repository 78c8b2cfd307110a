import assert from "node:assert/strict";
import { beforeEach, describe, it } from "mocha";
import { TransitionWatch } from "../../provider/lock";
import { address, node } from "../decide/build";
import { CONTROL_PLANE, LockScene } from "./scene";

const NODES = ["c1", "c3", "w1"].map((name) => node(name));
const record = (more: object = {}): Record<string, string> => ({
    "pulumi-mke/operation": JSON.stringify({ id: "o", kind: "add", owner: "x", target: address("c3"), ...more }),
});

describe("what other operations move", () => {
    let scene: LockScene;
    let watch: TransitionWatch;

    beforeEach(() => {
        scene = new LockScene();
        watch = new TransitionWatch("us", scene.clock);
    });

    const look = (watching = watch) =>
        scene.leases.kube
            .leases("kube-system", "app.kubernetes.io/managed-by=pulumi-mke")
            .then((leases) => watching.look(leases, NODES));

    it("is the node that a Lease names", async () => {
        scene.leases.put({ name: "pulumi-mke-node-w1" });
        assert.deepEqual(await look(), { nodeNames: ["w1"], undecided: [], controlPlane: false });
    });

    it("is the node at the address in the record of the control plane's Lease, or of the name there", async () => {
        scene.leases.put({ name: CONTROL_PLANE, annotations: record() });
        assert.deepEqual(await look(), { nodeNames: ["c3"], undecided: [], controlPlane: true });
        scene.leases.put({ name: CONTROL_PLANE, annotations: record({ target: "c3.example.com", nodeName: "c3" }) });
        assert.deepEqual((await look()).nodeNames, ["c3"]);
    });

    it("is no node while the control plane's holder has not said which", async () => {
        scene.leases.put({ name: CONTROL_PLANE });
        assert.deepEqual(await look(), { nodeNames: [], undecided: [], controlPlane: true });
    });

    it("is nothing of our own, of a released Lease, or of one that is only a turn to drain", async () => {
        scene.leases.put({ name: CONTROL_PLANE, holder: "us", annotations: record() });
        scene.leases.put({ name: "pulumi-mke-node-w1", holder: "" });
        scene.leases.put({ name: "pulumi-mke-drain-0" });
        assert.deepEqual(await look(), { nodeNames: [], undecided: [], controlPlane: false });
    });

    it("is undecided where the Lease looks old, until it is renewed", async () => {
        scene.leases.put({ name: "pulumi-mke-node-w1" });
        await scene.clock.advance(3_600_000);
        assert.deepEqual((await look()).undecided, ["w1"]);
        const lease = scene.leases.get("pulumi-mke-node-w1");
        assert.ok(lease);
        // a holder whose clock is an hour behind ours
        const behind = { ...lease, renewTime: "2026-11-29T14:00:20.000000Z" };
        assert.deepEqual(watch.look([behind], NODES), { nodeNames: ["w1"], undecided: [], controlPlane: false });
    });

    it("is nothing any more once its Lease stayed unchanged for its whole life", async () => {
        scene.leases.put({ name: "pulumi-mke-node-w1", durationSeconds: 900 });
        assert.deepEqual((await look()).nodeNames, ["w1"]);
        await scene.clock.advance(899_000);
        assert.deepEqual((await look()).nodeNames, ["w1"]);
        await scene.clock.advance(2000);
        assert.deepEqual(await look(), { nodeNames: [], undecided: [], controlPlane: false });
    });
});
