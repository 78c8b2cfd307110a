import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { parse } from "yaml";
import { Deadline } from "../../provider/deadline";
import { writeConfiguration } from "../../provider/stages/write-configuration";
import { scene } from "../support/fake-operation";

const PATH = "/etc/k0s/k0s.yaml";
const helperConfig = {
    spec: {
        api: { address: "10.0.0.1", sans: ["k8s.example.com"] },
        storage: { etcd: { peerAddress: "10.0.0.1" } },
    },
};

describe("a controller's configuration", () => {
    it("is the helper's with the joiner's addresses, and the program's over it, for root alone", async () => {
        const k0sConfig = { spec: { telemetry: { enabled: false } } };
        const { operation, calls, files } = scene({ config: helperConfig, inputs: { k0sConfig } });
        assert.equal(await writeConfiguration(operation, Deadline.after(5000)), PATH);
        assert.deepEqual(calls, [`c3 writeFile ${PATH} 600`]);
        const { spec } = parse(files.get(PATH) ?? "") as { spec: Record<string, unknown> };
        assert.deepEqual(spec["api"], { ...helperConfig.spec.api, address: "10.0.0.3" });
        assert.deepEqual(spec["storage"], { type: "etcd", etcd: { peerAddress: "10.0.0.3" } });
        assert.deepEqual(spec["telemetry"], { enabled: false });
    });
});
