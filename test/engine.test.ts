import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, it } from "mocha";
import { Deadline, type Look, waitFor } from "../provider/deadline";
import { engineAddress, EngineGoneError, requireEngine, twiceInARow } from "../provider/engine";
import { withLock } from "../provider/lock";
import { silentLog } from "../provider/log";
import { runStage } from "../provider/stages/stage";
import { freePort } from "./support/program";

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

describe("a watch that may be deceived once", () => {
    it("believes what it saw twice in a row, from then on", async () => {
        const seen = [true, false, true, false, true, true];
        const look = twiceInARow(async () => seen.shift() ?? assert.fail("looked once too often"));
        const believed: boolean[] = [];
        for (let count = seen.length; count > 0; count -= 1) believed.push(await look());
        assert.deepEqual(believed, [false, false, false, false, false, true]);
    });
});

describe("a provider process", () => {
    const argv = process.argv;
    let engine: Server;
    let port: number;

    beforeEach(async () => {
        port = await freePort();
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

    it("waits no longer for what it need not see through", async () => {
        const look = async (): Promise<{ seen: string }> => {
            if (engine.listening) await killEngine();
            return { seen: "not yet" };
        };
        const wait = { stage: "draining", deadline: Deadline.afterSeconds(60), interval: 1, look };
        await assert.rejects(waitFor(wait), (error: Error) => {
            assert.ok(error instanceof EngineGoneError);
            assert.match(error.message, /^draining: waited for no longer, because the Pulumi CLI/);
            return true;
        });
    });

    it("sees the end of what must not be left half-way", async () => {
        await killEngine();
        let looks = 0;
        const look = async (): Promise<Look<string>> => {
            looks += 1;
            return looks < 3 ? { seen: "still a member" } : { done: "left" };
        };
        const wait = { stage: "leaving etcd", deadline: Deadline.afterSeconds(60), interval: 1, look };
        assert.equal(await waitFor({ ...wait, seesItThrough: true }), "left");
    });

    it("waits for no lock any more, and takes none", async () => {
        await killEngine();
        const request = {
            clusterId: "c",
            kind: { controlPlane: true },
            owner: "o/p/s/c2",
            timeoutSeconds: 60,
        } as const;
        const kube = (): never => assert.fail("the cluster was asked");
        await assert.rejects(
            withLock({ ...request, kube, log: silentLog }, () => assert.fail("it started")),
            EngineGoneError,
        );
    });

    it("takes only a refused connection for the end of its engine", async () => {
        // There is no way to that address, whoever listens there: as on a machine that has no sockets left.
        process.argv = ["node", PROVIDER, "255.255.255.255:1"];
        await requireEngine("draining");
    });

    it("has no engine to lose where it is no dynamic provider", async () => {
        process.argv = argv;
        await killEngine();
        await requireEngine("draining");
    });
});
