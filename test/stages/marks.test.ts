import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { ConnectionError, LockError, OtherMachineError, RefusedError } from "../../provider/errors";
import type { HostMarker } from "../../provider/facts/host";
import { readApiServer } from "../../provider/stages/api-server";
import { markNode, reconcileLabels } from "../../provider/stages/mark-node";
import { preflight } from "../../provider/stages/preflight";
import { nothingToDo } from "../../provider/stages/stage";
import { markHost, notePut, putOn, recordInLock, recordOf } from "../../provider/stages/record-operation";
import { blankHost, cluster, CLUSTER_ID, memberId, TOKEN, workerHost } from "../decide/build";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

const soon = (): Deadline => Deadline.after(5000);
const OWNER = "organization/mke/test/n";

describe("the record of an operation", () => {
    it("says who does what to whom, and which members there were", () => {
        const { operation } = scene();
        const add = {
            id: "operation-1",
            kind: "add",
            owner: OWNER,
            target: "10.0.0.3",
            nodeName: "c3",
            baseline: ["f01", "f02", "f03"],
        };
        assert.deepEqual(recordOf(operation, "add"), add);
        assert.deepEqual(recordOf(operation, "remove", memberId("c3")), { ...add, kind: "remove", removing: "f03" });
    });

    it("is in the lock, and an operation whose lock is lost does not get that far", async () => {
        const lost = new LockError({ stage: "holding the lock", what: "lost" });
        const world = scene({ lock: { record: () => Promise.reject(lost) } });
        await assert.rejects(recordInLock(world.operation, recordOf(world.operation, "add")), lost);
        assert.deepEqual(world.calls, ["lock record add"]);
    });
});

describe("our mark on a host", () => {
    it("leaves a host unchanged where another machine, or another mark, was met", async () => {
        for (const [thrown, changed] of [
            [new OtherMachineError({ stage: "marking", what: "another machine" }), false],
            [new ConnectionError({ stage: "marking", what: "cut off" }), true],
        ] as const) {
            const { operation } = scene({ target: { writeMarker: () => Promise.reject(thrown) } });
            await assert.rejects(markHost(operation, recordOf(operation, "add"), soon()), thrown);
            assert.equal(operation.progress.hostChanged, changed);
        }
    });
});

describe("what we put on a host", () => {
    const none = { files: [], directories: [], selinux: [], units: [] };

    it("is noted beside the operation that is under way, and kept when that is over", async () => {
        const markers: HostMarker[] = [];
        const { operation } = scene({ target: { writeMarker: async (marker) => void markers.push(marker) } });
        await markHost(operation, recordOf(operation, "add"), soon());
        await notePut(operation, { files: ["/a"] }, soon());
        await notePut(operation, { files: ["/a", "/b"], directories: ["/d"] }, soon());
        await notePut(operation, { files: ["/b"] }, soon());
        await markHost(operation, undefined, soon());
        assert.deepEqual(
            markers.map(({ operation: record, put }) => [record?.kind, put]),
            [
                ["add", undefined],
                ["add", { ...none, files: ["/a"] }],
                ["add", { ...none, files: ["/a", "/b"], directories: ["/d"] }],
                [undefined, { ...none, files: ["/a", "/b"], directories: ["/d"] }],
            ],
        );
    });

    it("is known from an earlier operation, whose record stays as it is, but not from a copied disk", async () => {
        const identity = {
            owner: OWNER,
            token: TOKEN,
            role: "controller",
            nodeName: "c3",
            clusterId: CLUSTER_ID,
        } as const;
        const record = { ...recordOf(scene().operation, "add"), id: "earlier" };
        const marker = {
            version: 1,
            ...identity,
            machineId: "machine-c3",
            operation: record,
            put: { ...none, files: ["/a"] },
        } as const;
        const markers: HostMarker[] = [];
        const target = { writeMarker: async (written: HostMarker): Promise<void> => void markers.push(written) };
        const { operation } = scene({ hostFacts: blankHost("c3", { marker }), target });
        await notePut(operation, { files: ["/b"] }, soon());
        assert.deepEqual(markers[0]?.put?.files, ["/a", "/b"]);
        assert.equal(markers[0].operation?.id, "earlier");
        const copied = { ...marker, machineId: "another" };
        assert.equal(putOn(scene({ hostFacts: blankHost("c3", { marker: copied }) }).operation), undefined);
    });
});

describe("the mark on a host", () => {
    const marked = async (options: SceneOptions = {}): Promise<{ world: Scene; markers: HostMarker[] }> => {
        const markers: HostMarker[] = [];
        const world = scene({ ...options, target: { writeMarker: async (marker) => void markers.push(marker) } });
        await markHost(world.operation, recordOf(world.operation, "add"), soon());
        await markHost(world.operation, undefined, soon());
        return { world, markers };
    };

    it("says whose node this is, of which cluster, on which machine, and what is under way", async () => {
        const { world, markers } = await marked();
        const settled = {
            version: 1,
            owner: OWNER,
            token: TOKEN,
            role: "controller",
            nodeName: "c3",
            clusterId: CLUSTER_ID,
            machineId: "machine-c3",
        };
        assert.deepEqual(markers, [{ ...settled, operation: recordOf(world.operation, "add") }, settled]);
    });

    it("counts as a change of the host even when writing it fails: it may have arrived", async () => {
        const world = scene({ target: { writeMarker: () => Promise.reject(new Error("connection lost")) } });
        assert.equal(world.operation.progress.hostChanged, false);
        await assert.rejects(markHost(world.operation, undefined, soon()));
        assert.equal(world.operation.progress.hostChanged, true);
    });
});

describe("the mark on a Node", () => {
    const owner = { "pulumi-mke/owner": OWNER, "pulumi-mke/token": TOKEN };
    const changes = ({ calls }: Scene): string[] =>
        calls.filter((call) => call !== "kube node c3" && call !== "kube node w1");
    const annotated = (node: string, annotations: object): string =>
        `kube annotateNode ${node} ${JSON.stringify(annotations)}`;

    it("says whose it is, and of a worker also on which API server it depends", async () => {
        const server = "https://10.0.0.1:6443";
        const worker = scene({ name: "w1" });
        await markNode(worker.operation, server);
        assert.deepEqual(changes(worker), [annotated("w1", { ...owner, "pulumi-mke/api-server": server })]);

        const controller = scene();
        await markNode(controller.operation, server);
        assert.deepEqual(changes(controller), [annotated("c3", owner)]);
    });

    it("does not forget the API server where none was read", async () => {
        const worker = scene({ name: "w1" });
        await markNode(worker.operation, undefined);
        assert.deepEqual(changes(worker), [annotated("w1", owner)]);
    });

    it("comes with the labels of the program", async () => {
        const world = scene({ inputs: { labels: { "node-role.kubernetes.io/infra": "" } } });
        await markNode(world.operation, undefined);
        assert.deepEqual(changes(world).slice(0, 2), [
            'kube labelNode c3 {"node-role.kubernetes.io/infra":""}',
            annotated("c3", { "pulumi-mke/labels": "node-role.kubernetes.io/infra" }),
        ]);
    });

    it("is on no plain controller, which has no Node: nothing is annotated or labelled", async () => {
        const world = scene({ inputs: { role: "controller", labels: { zone: "a" } } });
        assert.deepEqual(await markNode(world.operation, undefined), nothingToDo("a plain controller has no Node"));
        assert.deepEqual(world.calls, []);
    });

    it("drops the labels that the program no longer has, and only those", async () => {
        const world = scene({ inputs: { labels: { zone: "b" } } });
        await reconcileLabels(world.operation, { zone: "a", disk: "ssd" });
        assert.deepEqual(changes(world), [
            'kube labelNode c3 {"disk":null,"zone":"b"}',
            annotated("c3", { "pulumi-mke/labels": "zone" }),
        ]);
        assert.deepEqual(await reconcileLabels(scene().operation, {}), nothingToDo("no labels"));
    });

    it("drops labels that only the Node remembers as the program's", async () => {
        const facts = cluster();
        const nodes = facts.nodes.map((node) =>
            node.name === "c3" ? { ...node, annotations: { "pulumi-mke/labels": "disk,zone" } } : node,
        );
        const world = scene({ cluster: { ...facts, nodes }, inputs: { labels: { zone: "b" } } });
        await reconcileLabels(world.operation, {});
        assert.equal(changes(world)[0], 'kube labelNode c3 {"disk":null,"zone":"b"}');
    });
});

describe("the API server of a node", () => {
    it("is what its own kubelet says, looked up where the program installs", async () => {
        const hostFacts = workerHost("w1", { apiServer: "https://10.0.0.2:6443" });
        const world = scene({ name: "w1", hostFacts });
        assert.equal(await readApiServer(world.operation, soon()), "https://10.0.0.2:6443");
    });
});

describe("pre-flight", () => {
    it("refuses a host with everything it lacks", async () => {
        const world = scene({ hostFacts: blankHost("c3", { cpus: 0, memoryMiB: 10 }) });
        await assert.rejects(
            preflight(world.operation, soon()),
            (error: Error) =>
                error instanceof RefusedError && /CPUs: 0 found.*; memory: 10 MiB found/.test(error.message),
        );
        assert.deepEqual(world.calls, ["c3 probe"]);
        await preflight(scene().operation, soon());
    });

    it("compares the clocks as they are now: the look that was decided on may be minutes old", async () => {
        const old = blankHost("c3", { clock: 1 });
        const now = blankHost("c3");
        await preflight(scene({ hostFacts: old, target: { probe: async () => now } }).operation, soon());
        const slow = scene({ hostFacts: now, target: { probe: async () => old } });
        await assert.rejects(preflight(slow.operation, soon()), /its clock is \d+ s behind the API server's/);
        const checks = { ...slow.operation.inputs.preflight, maxClockSkew: false } as const;
        const off = { ...slow.operation, inputs: { ...slow.operation.inputs, preflight: checks } };
        await preflight(off, soon());
    });
});
