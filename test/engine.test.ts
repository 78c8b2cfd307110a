import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, it } from "mocha";
import { engineAddress, EngineGoneError, requireEngine } from "../provider/engine";
import { runStage } from "../provider/pipelines/stage";
import { freePorts } from "./support/program";

const PROVIDER = "/x/node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js";

describe("the engine's address", () => {
    it("is the last argument of a dynamic-provider process", () => {
        const address = { host: "127.0.0.1", port: 4321 };
        assert.deepEqual(engineAddress(["node", PROVIDER, "--flag", "127.0.0.1:4321"]), address);
        assert.deepEqual(engineAddress(["node", PROVIDER.replaceAll("/", "\\"), "127.0.0.1:4321"]), address);
    });

    it("is that of no other process, whatever its arguments", () => {
        assert.equal(engineAddress(["node", "/x/bin/mocha", "127.0.0.1:4321"]), undefined);
        assert.equal(engineAddress(["node"]), undefined);
    });

    it("is unknown where the last argument is none", () => {
        assert.equal(engineAddress(["node", PROVIDER, "--help"]), undefined);
        assert.equal(engineAddress(["node", PROVIDER]), undefined);
    });
});

describe("a provider process", () => {
    const argv = process.argv;
    let engine: Server;
    let port: number;

    beforeEach(async () => {
        [port = 0] = await freePorts(1);
        engine = createServer((socket) => socket.destroy());
        await new Promise<void>((resolve) => engine.listen(port, "127.0.0.1", resolve));
        process.argv = ["node", PROVIDER, `127.0.0.1:${port}`];
    });

    const killEngine = (): Promise<void> => new Promise((resolve) => void engine.close(() => resolve()));

    afterEach(async () => {
        process.argv = argv;
        if (engine.listening) await killEngine();
    });

    it("goes on while its engine accepts connections", async () => {
        await requireEngine("draining");
    });

    it("starts no stage any more when its engine is gone", async () => {
        await killEngine();
        const lines: string[] = [];
        let started = false;
        const stage = runStage({ line: (text) => lines.push(text) }, "draining", 1, async () => {
            started = true;
        });
        await assert.rejects(stage, (error: Error) => {
            assert.ok(error instanceof EngineGoneError && !error.retryable);
            assert.match(error.message, /^draining: not started, because the Pulumi CLI/);
            return true;
        });
        assert.equal(started, false);
        assert.deepEqual(lines, []);
    });

    it("has no engine to lose where it is no dynamic provider", async () => {
        process.argv = argv;
        await killEngine();
        await requireEngine("draining");
    });
});
