import assert from "node:assert/strict";
import Module from "node:module";
import { join } from "node:path";
import { controller, worker } from "../../provider";
import { RefusedError } from "../../provider/errors";
import { forgetControllers, isWantedController, knownControllers } from "../../provider/resource/known-controllers";
import { SCHEMA_VERSION } from "../../provider/resource/migrations";
import { tokensOfThisProcess } from "../../provider/resource/ownership";
import { logAt } from "../support/log-level";
import { checked, FOUND, stored } from "../support/node-bags";

/** What the action answers, and the lines about node n that Pulumi shows meanwhile. */
async function heard<T>(action: () => Promise<T>): Promise<{ readonly result: T; readonly lines: string[] }> {
    const write = process.stdout.write.bind(process.stdout);
    const lines: string[] = [];
    process.stdout.write = (text: string | Uint8Array): boolean => lines.push(String(text).trimEnd()) > 0;
    try {
        const result = await action();
        return { result, lines: lines.filter((line) => line.startsWith("n: ")) };
    } finally {
        process.stdout.write = write;
    }
}

const RESOURCE = join(__dirname, "../../provider/resource");

describe("the entry of the provider", () => {
    const calls: unknown[][] = [];
    const made = { ...stored(), memberId: undefined };
    let found: { id?: string; props?: object } = { id: "c/c2", props: made };

    const operations: Record<string, object> = {
        create: {
            create: async (...given: unknown[]) => (calls.push(["create", ...given]), { id: "c/c2", outs: made }),
        },
        read: { read: async (...given: unknown[]) => (calls.push(["read", ...given]), found) },
        update: { update: async (...given: unknown[]) => (calls.push(["update", ...given]), { outs: made }) },
        delete: { remove: async (...given: unknown[]) => void calls.push(["remove", ...given]) },
    };
    const replaced = new Map<string, NodeJS.Module | undefined>();

    /** The real operations need machines: others are found in their place. */
    before(() => {
        for (const [name, exports] of Object.entries(operations)) {
            const file = join(RESOURCE, `${name}.js`);
            replaced.set(file, require.cache[file]);
            require.cache[file] = Object.assign(new Module(file), { exports, loaded: true });
        }
    });

    after(() => {
        for (const [file, original] of replaced) {
            if (original === undefined) Reflect.deleteProperty(require.cache, file);
            else require.cache[file] = original;
        }
        forgetControllers();
    });

    beforeEach(() => {
        calls.length = 0;
        forgetControllers();
    });

    it("hands every operation on, with the bag as it came and the kind of node", async () => {
        const inputs = { ...checked(), __provider: "text" };
        const outs = { ...stored(), __provider: "text" };
        await controller.create(inputs);
        await worker.read("id", outs);
        await controller.update("id", outs, inputs);
        await worker.delete("id", outs);
        assert.deepEqual(calls, [
            ["create", "controller", inputs],
            ["read", "worker", "id", outs],
            ["update", "controller", "id", outs, inputs],
            ["remove", "worker", "id", outs],
        ]);
    });

    it("returns outputs without undefined, which would lose a node that was made", async () => {
        const results = [await controller.create(checked()), await controller.update("id", stored(), checked())];
        for (const { outs } of results) assert.equal("memberId" in outs, false);
        const { id, props } = await controller.read("id", stored());
        assert.deepEqual([id, props && "memberId" in props], ["c/c2", false]);
    });

    it("answers nothing for a node that is gone", async () => {
        found = {};
        assert.deepEqual(await controller.read("id", stored()), {});
    });

    it("leaves the state of a later version as it is in a refresh, and says so; update and delete refuse it", async () => {
        const outs = { ...stored(), schemaVersion: SCHEMA_VERSION + 1, __provider: "text" };
        const { result, lines } = await heard(() => controller.read("id", outs));
        assert.deepEqual(result, { id: "id", props: outs });
        assert.deepEqual(lines, ["n: its state was written by a later version of pulumi-mke, and stays as it is"]);
        await assert.rejects(controller.update("id", outs, checked()), RefusedError);
        await assert.rejects(controller.delete("id", outs), RefusedError);
        assert.deepEqual(calls, []);
    });

    it("remembers the hosts that the program wants as controllers, from the moment when Pulumi has it check them", async () => {
        await controller.check({}, { ...checked(), host: "C7.example.org." });
        await worker.check({}, { ...checked(), host: "10.0.0.8" });
        assert.deepEqual(["c7.example.org", "10.0.0.8"].map(isWantedController), [true, false]);
    });

    it("says of each change that it has ended, also where the log is quiet, and nothing of a look", async () => {
        const back = logAt("quiet");
        try {
            const { lines } = await heard(async () => {
                await controller.create(checked());
                await controller.read("id", stored());
                await controller.update("id", stored(), checked());
                await controller.delete("id", stored());
            });
            const withoutTimes = lines.map((line) => line.replace(/ \d+\.\d s$/, ""));
            assert.deepEqual(withoutTimes, ["n: created after", "n: updated after", "n: deleted after"]);
        } finally {
            back();
        }
    });

    it("remembers the tokens of resources in the state", async () => {
        await controller.diff("id", { ...stored(), token: "of a resource" }, checked());
        await controller.delete("id", { ...stored(), token: "of one that goes" });
        const tokens = tokensOfThisProcess();
        assert.ok(tokens.includes("of a resource") && tokens.includes("of one that goes"));
    });

    it("remembers the controllers of every bag that it sees", async () => {
        const through = (host: string) => checked({ cluster: { controllers: [{ host }], id: FOUND.clusterId } });
        await controller.create(through("10.0.0.1"));
        await controller.diff("id", stored(through("10.0.0.2")), through("10.0.0.3"));
        await controller.delete("id", stored(through("10.0.0.4")));
        const hosts = knownControllers(FOUND.clusterId, ["10.0.0.12"]).map(({ host }) => host);
        assert.deepEqual(hosts.sort(), ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]);
    });
});
