import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { checkMke, deregisterFromMke, registerWithMke } from "../../provider/pipelines/mke";
import { adoptNode } from "../../provider/pipelines/settle-node";
import { removeWorker } from "../../provider/pipelines/remove-worker";
import { cluster, controllerHost, marker, memberId, node, record } from "../decide/build";
import { only } from "../support/fake-calls";
import { fakeMke, mkeConfig, workload } from "../support/fake-mke";
import { type Scene, scene, type SceneOptions, stagesOf } from "../support/fake-operation";
import { HAPPY_WORKER, workerScene } from "./scenes";

const entry = (address: string, role: string): object => ({ role, ssh: { address, keyPath: "/k" } });
const RELEASE = { name: "mke-4.2.1", version: "v4.2.1", ready: true, state: "ready" };
const PATCH = ["waiting for the MkeRelease", "updating MkeConfig"];

function withMke(world: Scene, hosts: readonly unknown[] = []): Scene {
    const config = mkeConfig({ observedGeneration: 1, hosts: [entry("10.0.0.1", "controller+worker"), ...hosts] });
    const objects = { config, releases: [RELEASE], workloads: [workload("a")] };
    Object.assign(world.operation.cluster.kube, { mke: fakeMke(world.calls, objects) });
    return world;
}
const mkeCluster = (): SceneOptions => ({ cluster: cluster({ mke: true }) });

describe("MKE's side of an add and a removal", () => {
    it("is not there on plain k0s: no stage, no request", async () => {
        const world = scene();
        await checkMke(world.operation);
        await registerWithMke(world.operation, true);
        await deregisterFromMke(world.operation, true);
        assert.deepEqual([...world.lines, ...world.calls], []);
    });

    it("is all stages where etcd has a new member, or one less", async () => {
        const all = [...PATCH, "waiting for the add-ons", "redistributing workloads"];
        const added = withMke(scene(mkeCluster()));
        await registerWithMke(added.operation, true);
        assert.deepEqual(stagesOf(added), all);
        const removed = withMke(scene(mkeCluster()), [entry("10.0.0.3", "controller+worker")]);
        await deregisterFromMke(removed.operation, true);
        assert.deepEqual(stagesOf(removed), all);
    });

    it("restarts nothing where the program says so", async () => {
        const mke = { redistributeWorkloads: false };
        const world = withMke(scene({ ...mkeCluster(), inputs: { mke } }));
        await registerWithMke(world.operation, true);
        assert.deepEqual(stagesOf(world), [...PATCH, "waiting for the add-ons"]);
        assert.deepEqual(only(world.calls, "mke restart"), []);
    });

    it("is only the entry for a worker", async () => {
        const world = withMke(workerScene(mkeCluster()));
        await registerWithMke(world.operation, false);
        assert.deepEqual(stagesOf(world), PATCH);
    });

    it("changes nothing for a controller that is listed, and scales for one that was not", async () => {
        const listed = withMke(scene(mkeCluster()), [entry("10.0.0.3", "controller+worker")]);
        await registerWithMke(listed.operation, false);
        assert.deepEqual(stagesOf(listed), PATCH);
        assert.deepEqual(only(listed.calls, "mke patchConfig"), []);
        const unlisted = withMke(scene(mkeCluster()));
        await registerWithMke(unlisted.operation, false);
        assert.deepEqual(stagesOf(unlisted), [...PATCH, "waiting for the add-ons"]);
    });

    it("spreads the workloads after a join of ours that was interrupted, and not for a node that is adopted", async () => {
        const interrupted = marker("c3", "controller", { operation: record("add") });
        const earlier = { ...interrupted, operation: record("add", { baseline: [memberId("c3").toString(16)] }) };
        for (const [found, restarts] of [
            [interrupted, true],
            [earlier, false],
            [marker("c3", "controller"), false],
        ] as const) {
            const world = withMke(scene({ ...mkeCluster(), hostFacts: controllerHost("c3", { marker: found }) }));
            await adoptNode(world.operation);
            assert.equal(stagesOf(world).includes("redistributing workloads"), restarts);
        }
    });
});

describe("removing a worker whose host is blank already", () => {
    it("takes it out of MkeConfig, and on the host only our mark", async () => {
        const options = { cluster: cluster({ mke: true, nodes: [node("c1")] }) };
        const world = withMke(workerScene(options), [entry("10.0.0.11", "worker")]);
        const steps = { ...HAPPY_WORKER, drain: false, machine: "none" as const };
        await removeWorker(world.operation, { steps, node: undefined, host: world.operation });
        assert.deepEqual(only(world.calls, "w1", "kube", "mke patch"), [
            "mke patchConfig 10 remove /spec/hosts/1",
            "w1 removeMarker",
        ]);
    });

    it("leaves the entry to the node of another machine that has the address by now", async () => {
        const options = { cluster: cluster({ mke: true, nodes: [node("c1"), node("w9")] }) };
        const world = withMke(workerScene(options), [entry("10.0.0.11", "worker")]);
        const steps = { ...HAPPY_WORKER, drain: false, machine: "none" as const };
        await removeWorker(world.operation, { steps, node: undefined, host: undefined, successor: node("w9") });
        assert.deepEqual(only(world.calls, "mke patch"), []);
        assert.ok(world.lines.some((line) => line.includes("it is Node w9 on another machine now")));
    });
});
