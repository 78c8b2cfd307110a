import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { isMarkedSecret, startMocks } from "../support/mocks";
import { root } from "../support/root";

const load = createRequire(__filename);
const PROGRAM = join(root, "examples/quickstart/index.js");

describe("the quick start", () => {
    afterEach(() => {
        pulumi.runtime.setAllConfig({}, []);
        Reflect.deleteProperty(require.cache, require.resolve(PROGRAM));
    });

    it("makes a node of every host in the configuration", async () => {
        const registered = startMocks();
        const hosts = { "mke:controllers": JSON.stringify(["10.0.0.12", "10.0.0.13"]), "mke:workers": '["10.0.0.21"]' };
        pulumi.runtime.setAllConfig({ "mke:controller": "10.0.0.11", "mke:privateKey": "key", ...hosts }, [
            "mke:privateKey",
        ]);
        const { controllers, workers } = load(PROGRAM) as { controllers: object[]; workers: object[] };
        assert.deepEqual([controllers.length, workers.length], [2, 1]);
        await settled([controllers, workers]);
        assert.deepEqual(registered.map(({ type, name }) => `${type.split(":").at(-1) ?? ""} ${name}`).sort(), [
            "ControllerNode controller-10.0.0.12",
            "ControllerNode controller-10.0.0.13",
            "WorkerNode worker-10.0.0.21",
        ]);
        assert.ok(registered.every(({ inputs }) => isMarkedSecret(inputs["connection"])));
    });

    it("says which setting is missing", () => {
        startMocks();
        assert.throws(() => load(PROGRAM), /mke:controller/);
    });
});

function settled(outputs: object): Promise<unknown> {
    return new Promise((resolve) => pulumi.output(outputs).apply(resolve));
}
