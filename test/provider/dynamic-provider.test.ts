import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UNKNOWN } from "../../provider/resource/shape";
import { CallError, DynamicProvider, type Properties } from "../support/dynamic-provider";
import { checked, PROGRAM, stored } from "../support/node-bags";
import { root } from "../support/root";
import { stubText } from "../support/stub-text";

describe("the dynamic-provider process", () => {
    let process: DynamicProvider;
    let texts: Record<"controller" | "worker", string>;

    before(async () => {
        process = await DynamicProvider.start();
        texts = { controller: await stubText("controller"), worker: await stubText("worker") };
    });

    after(() => process.stop());

    const withText = (properties: Properties, __provider = texts.controller): Properties => ({
        ...properties,
        __provider,
    });

    /** A provider of the test's own in the same process. */
    const handler = (methods: string): string => `exports.handler = () => (${methods});`;

    it("finds this package in a clone of its repository, and checks", async () => {
        const { inputs, failures } = await process.check({}, withText(PROGRAM));
        assert.deepEqual(failures, []);
        assert.deepEqual(inputs, withText(checked()));
    });

    it("keeps controllers and workers apart", async () => {
        const worker = await process.check({}, withText(PROGRAM, texts.worker));
        assert.equal(worker.inputs["role"], "worker");
    });

    it("reports failures by property", async () => {
        const { failures } = await process.check({}, withText({ ...PROGRAM, connection: { prt: 22 } }));
        assert.deepEqual(failures, [["connection.prt", "is not an input; did you mean port?"]]);
    });

    it("lets unknown values through check and diff", async () => {
        const { inputs } = await process.check({}, withText({ ...PROGRAM, host: UNKNOWN }));
        assert.equal(inputs["host"], UNKNOWN);
        assert.deepEqual((await process.diff(withText(stored()), inputs)).replaces, ["host"]);
    });

    it("answers diff", async () => {
        const olds = withText(stored());
        assert.equal((await process.diff(olds, withText(checked()))).changes, "none");
        assert.deepEqual(await process.diff(olds, withText(checked({ role: "controller" }))), {
            changes: "some",
            replaces: ["role"],
            deleteFirst: true,
        });
    });

    it("prints why a node with drift is updated", async () => {
        const olds = withText(stored(checked(), { status: "degraded", drift: ["k0scontroller is stopped"] }));
        const another = await DynamicProvider.start();
        const { changes } = await another.diff(olds, withText(checked())).finally(() => another.stop());
        assert.equal(changes, "some");
        assert.deepEqual(another.output, ["n: will be updated: k0scontroller is stopped"]);
    });

    it("loads neither SSH, Kubernetes nor etcd for check and diff", async () => {
        await process.check({}, withText(PROGRAM));
        await process.diff(withText(stored()), withText(checked()));
        const list = handler("{ check: async () => ({ inputs: { loaded: Object.keys(require.cache) } }) }");
        const loaded = (await process.check({}, { __provider: list })).inputs["loaded"] as string[];
        const ours = loaded.filter((file) => file.includes("/dist/provider/"));
        assert.ok(ours.length > 3, "our own modules are in the list");
        assert.deepEqual(
            loaded.filter((file) => /node_modules\/(ssh2|etcd3|@kubernetes|yaml)\//.test(file)),
            [],
        );
        assert.deepEqual(
            ours.filter((file) => /\/(adapters|pipelines|stages|lock|decide)\//.test(file)),
            [],
        );
    });

    it("keeps a half-made node with everything that a later delete needs", async () => {
        const state = JSON.stringify(join(root, "dist/provider/resource/state"));
        const failing = handler(`{ create: async (inputs) => {
            const { InitFailure, outputsOf } = require(${state});
            const found = { nodeName: "c2", status: "joining", state: "", drift: [], token: "t", installedBinary: true,
                memberId: undefined };
            const outs = outputsOf(inputs, found);
            throw new InitFailure({ id: "cluster/c2", inputs, outs, error: new Error("joining etcd on 10.0.0.12: stuck") });
        } }`);
        const error = await process.create(withText(checked(), failing)).catch((thrown: unknown) => thrown);
        assert.ok(error instanceof CallError && error.initFailure);
        const { id, properties, reasons } = error.initFailure;
        assert.deepEqual([id, reasons], ["cluster/c2", ["joining etcd on 10.0.0.12: stuck"]]);
        assert.equal(properties["__provider"], failing);
        assert.equal(properties["host"], "10.0.0.12");
        assert.equal((await process.diff(withText(properties), withText(checked()))).changes, "some");
    });

    it("refuses to act on state of a later version, which a refresh leaves as it is", async () => {
        const later = withText({ ...stored(), schemaVersion: 1000 });
        await assert.rejects(process.delete("id", later), /later version of pulumi-mke/);
        await assert.rejects(process.update("id", later, withText(checked())), /later version of pulumi-mke/);
        assert.deepEqual(await process.read("id", later), { id: "id", properties: later });
    });

    it("says what is missing where a program does not have this package", async () => {
        const folder = await mkdtemp(join(tmpdir(), "pulumi-mke-"));
        const elsewhere = await DynamicProvider.start(folder);
        try {
            await assert.rejects(elsewhere.check({}, withText(PROGRAM)), /Cannot find module 'pulumi-mke\/provider'/);
        } finally {
            await elsewhere.stop();
            await rm(folder, { recursive: true });
        }
    });
});
