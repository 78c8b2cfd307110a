import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { EngineGoneError } from "../../provider/engine";
import { RefusedError, TimeoutError } from "../../provider/errors";
import { HAPPY_WORKER, workerScene } from "./scenes";
import { addWorker } from "../../provider/pipelines/add-worker";
import { removeWorker, type WorkerRemoval } from "../../provider/pipelines/remove-worker";
import { blankHost, node } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, stagesOf } from "../support/fake-operation";
import { freePort } from "../support/program";

const argv = process.argv;
afterEach(() => void (process.argv = argv));

const READS =
    /^(w1 (probe|reach)|mke plans|etcd (members|status|alarms)|kube (nodes|etcdMembers|controlNodes|hasMke|clusterId|leases?|isReady)\b)/;

describe("adding a worker", () => {
    it("checks, records, installs, waits for its Node and marks it, in this order", async () => {
        const world = workerScene({ joins: true });
        await addWorker(world.operation);
        assert.deepEqual(stagesOf(world), [
            "pre-flight",
            "comparing versions",
            "checking the cluster",
            "checking reachability",
            "recording the operation",
            "copying registry settings",
            "staging k0s",
            "labelling for SELinux",
            "installing k0s",
            "starting k0s",
            "waiting for the Node",
            "un-cordoning",
            "marking the node",
        ]);
        assert.deepEqual(only(world.calls, "c1 invalidate", "lock record", "w1 writeMarker"), [
            "lock record add",
            "w1 writeMarker worker add",
            "c1 invalidateJoinToken abcdef",
            "w1 writeMarker worker settled",
        ]);
    });

    it("waits for its Node also where the engine is killed meanwhile: the token goes with the wait", async () => {
        const port = await freePort();
        let looks = -1;
        const world = workerScene({
            joins: true,
            target: {
                service: async (action) => {
                    if (action !== "start") return;
                    process.argv = ["node", "/x/cmd/dynamic-provider/index.js", `127.0.0.1:${port}`];
                    looks = 0;
                },
            },
            kube: { node: async () => (looks >= 0 && (looks += 1) > 1 ? node("w1") : undefined) },
        });
        await assert.rejects(addWorker(world.operation), EngineGoneError);
        assert.match(world.lines.at(-1) ?? "", /^waiting for the Node … w1 is Ready/);
        assert.deepEqual(only(world.calls, "c1 invalidate"), ["c1 invalidateJoinToken abcdef"]);
    });

    it("only looks at etcd", async () => {
        const world = workerScene({ joins: true });
        await addWorker(world.operation);
        assert.deepEqual([...new Set(only(world.calls, "etcd"))].sort(), [
            "etcd alarms",
            "etcd members",
            "etcd status",
        ]);
    });

    it("writes on the Node through which API server it joined", async () => {
        const world = workerScene({ joins: true, hostFacts: blankHost("w1", { apiServer: "https://10.0.0.1:6443" }) });
        await addWorker(world.operation);
        assert.match(
            only(world.calls, "kube annotateNode w1").join(),
            /"pulumi-mke\/api-server":"https:\/\/10\.0\.0\.1:6443"/,
        );
    });

    it("writes nothing when a check refuses", async () => {
        for (const options of [
            { hostFacts: blankHost("w1", { cgroupVersion: 1 as const }) },
            { target: { reach: async (): Promise<"refused"> => "refused" } },
        ]) {
            const world = workerScene(options);
            await assert.rejects(addWorker(world.operation), RefusedError);
            assert.deepEqual(
                world.calls.filter((call) => !READS.test(call)),
                [],
            );
        }
    });
});

describe("removing a worker", () => {
    const remove = (world: Scene, change: Partial<WorkerRemoval> = {}): Promise<void> =>
        removeWorker(world.operation, { steps: HAPPY_WORKER, node: node("w1"), host: world.operation, ...change });

    it("records, drains while the kubelet lives, stops, deletes the Node, and resets last", async () => {
        const world = workerScene();
        await remove(world);
        assert.deepEqual(world.calls, [
            "mke plans",
            "lock record remove",
            "w1 writeMarker worker remove",
            "kube node w1",
            "kube setUnschedulable w1 true",
            "lock prove",
            "kube podsOn w1",
            "lock prove",
            "w1 service disable worker",
            "w1 service stop worker",
            "lock prove",
            "kube deleteNode w1 uid-node-w1",
            "lock prove",
            "w1 reset /var/lib/k0s",
            "lock prove",
            "w1 cleanUp /var/lib/k0s",
            "w1 removeMarker",
        ]);
    });

    it("does only the cluster's side without a host", async () => {
        const world = workerScene();
        await remove(world, { host: undefined });
        assert.deepEqual(only(world.calls, "w1"), []);
        assert.deepEqual(only(world.calls, "kube delete"), ["kube deleteNode w1 uid-node-w1"]);
    });

    it("drains nothing that has no Node, and nothing where the program or the matrix says so", async () => {
        const undrained = { ...workerScene().operation.inputs.drain, enabled: false };
        const worlds = [workerScene(), workerScene(), workerScene({ inputs: { drain: undrained } })] as const;
        await remove(worlds[0], { node: undefined });
        await remove(worlds[1], { steps: { ...HAPPY_WORKER, drain: false } });
        await remove(worlds[2]);
        for (const world of worlds) assert.deepEqual(only(world.calls, "kube setUnschedulable", "kube podsOn"), []);
    });

    it("resets only as far as the matrix says", async () => {
        const folders = workerScene();
        await remove(folders, { steps: { ...HAPPY_WORKER, machine: "folders" } });
        assert.deepEqual(only(folders.calls, "w1 reset", "w1 cleanUp"), ["w1 cleanUp /var/lib/k0s"]);
        const none = workerScene();
        await remove(none, { steps: { ...HAPPY_WORKER, machine: "none" } });
        assert.deepEqual(only(none.calls, "w1 reset", "w1 cleanUp"), []);
    });

    it("resets nothing when the lock was lost", async () => {
        const world: Scene = workerScene({ kube: { deleteNode: async () => world.loseLock() } });
        await assert.rejects(remove(world), { name: "LockError" });
        assert.deepEqual(only(world.calls, "w1 reset", "w1 cleanUp"), []);
    });

    describe("with a drain that must succeed and does not", () => {
        const blocking = { ownerKind: "ReplicaSet", phase: "Running", mirror: false, deleting: false, finalizers: [] };

        function blockedScene({ timeout = 0, evict = (): void => undefined } = {}): Scene {
            const drain = { ...workerScene().operation.inputs.drain, timeout, onFailure: "fail" as const };
            const blocked = async () => (evict(), { blocked: "not now" });
            const world = workerScene({ inputs: { drain }, kube: { evict: blocked } });
            world.kube.pods = [{ namespace: "shop", name: "db", uid: "uid-db", ...blocking }];
            return world;
        }

        const w1 = (world: Scene) => world.kube.nodes.find(({ name }) => name === "w1");

        it("stops before it touches the service, takes its cordon back and says so", async () => {
            const world = blockedScene();
            await assert.rejects(remove(world), (error: Error) => {
                assert.ok(error instanceof TimeoutError);
                assert.match(error.message, /Node w1 is schedulable again, because the removal stopped there\.$/);
                return true;
            });
            assert.deepEqual(only(world.calls, "w1 service", "kube delete", "w1 reset"), []);
            assert.deepEqual([w1(world)?.unschedulable, w1(world)?.annotations], [false, {}]);
            assert.deepEqual(stagesOf(world).slice(-3), ["cordoning", "draining", "un-cordoning"]);
        });

        it("leaves somebody else's cordon alone", async () => {
            const world = blockedScene();
            world.kube.nodes = world.kube.nodes.map((one) => ({ ...one, unschedulable: true }));
            await assert.rejects(remove(world), /Node w1 stays as somebody else cordoned it\.$/);
            assert.equal(w1(world)?.unschedulable, true);
        });

        it("leaves a Node cordoned that is NotReady", async () => {
            const world = blockedScene();
            world.kube.nodes = world.kube.nodes.map((one) => ({ ...one, ready: false }));
            await assert.rejects(remove(world), /Node w1 stays cordoned, because it is NotReady\.$/);
            assert.equal(w1(world)?.unschedulable, true);
        });

        it("takes its cordon back also where the engine is killed meanwhile", async () => {
            const port = await freePort();
            const world = blockedScene({
                timeout: 60,
                evict: () => void (process.argv = ["node", "/x/cmd/dynamic-provider/index.js", `127.0.0.1:${port}`]),
            });
            await assert.rejects(remove(world), EngineGoneError);
            assert.deepEqual([w1(world)?.unschedulable, w1(world)?.annotations], [false, {}]);
            assert.deepEqual(only(world.calls, "w1 service", "kube delete", "w1 reset"), []);
        });

        it("does nothing more once the lock is lost", async () => {
            const world = blockedScene();
            world.loseLock();
            const writes = world.calls.length;
            await assert.rejects(remove(world), { name: "LockError" });
            assert.deepEqual(only(world.calls.slice(writes), "w1 service", "kube delete", "w1 reset"), []);
            assert.deepEqual(only(world.calls, "kube setUnschedulable w1 false"), []);
            assert.match(world.lines.join("\n"), /Node w1 stays cordoned: holding the lock/);
        });
    });

    it("takes its turn to drain around cordon and drain, and none where nothing is drained", async () => {
        for (const enabled of [true, false]) {
            const world = workerScene({ inputs: { drain: { ...workerScene().operation.inputs.drain, enabled } } });
            const during: string[] = [];
            const operation = {
                ...world.operation,
                takingTurnToDrain: async <T>(action: (turn: { prove(): Promise<void> }) => Promise<T>): Promise<T> => {
                    const before = stagesOf(world).length;
                    const result = await action({ prove: async () => undefined });
                    during.push(...stagesOf(world).slice(before));
                    return result;
                },
            };
            await remove({ ...world, operation });
            assert.deepEqual(during, enabled ? ["cordoning", "draining"] : []);
        }
    });
});
