import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { parse } from "yaml";
import { Deadline } from "../../provider/deadline";
import { RefusedError } from "../../provider/errors";
import { writeConfiguration } from "../../provider/stages/write-configuration";
import { only } from "../support/fake-calls";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

const PATH = "/etc/k0s/k0s.yaml";
const POLICY = "/etc/k0s/audit-policy.yaml";
const helperConfig = {
    spec: {
        api: { address: "10.0.0.1", sans: ["k8s.example.com"], extraArgs: { "audit-policy-file": POLICY } },
        storage: { etcd: { peerAddress: "10.0.0.1" } },
    },
};

const world = (options: SceneOptions = {}): Scene => scene({ config: helperConfig, ...options });
const write = ({ operation }: Scene): Promise<unknown> => writeConfiguration(operation, Deadline.after(5000));

describe("a controller's configuration", () => {
    it("is the helper's with the joiner's addresses, and the program's over it, for root alone", async () => {
        const given = world({ inputs: { k0sConfig: { spec: { telemetry: { enabled: false } } } } });
        given.files.set(POLICY, "");
        assert.equal(await write(given), PATH);
        assert.deepEqual(only(given.calls, "c3 write"), [`c3 writeFile ${PATH} 600`]);
        const { spec } = parse(given.files.get(PATH) ?? "") as { spec: Record<string, unknown> };
        assert.deepEqual(spec["api"], { ...helperConfig.spec.api, address: "10.0.0.3" });
        assert.deepEqual(spec["storage"], { type: "etcd", etcd: { peerAddress: "10.0.0.3" } });
        assert.deepEqual(spec["telemetry"], { enabled: false });
    });

    it("is refused, and not written, while a file it refers to is missing", async () => {
        const lacking = world();
        await assert.rejects(write(lacking), (error: Error) => {
            assert.ok(error instanceof RefusedError);
            assert.match(error.message, /not on this host: \/etc\/k0s\/audit-policy\.yaml\nCopy them from 10\.0\.0\.1/);
            return true;
        });
        assert.deepEqual(lacking.calls, [`c3 exists ${POLICY}`]);
    });

    it("may refer to a file that only the program names", async () => {
        const k0sConfig = { spec: { controllerManager: { extraArgs: { "cloud-config": "/etc/cloud.conf" } } } };
        const lacking = world({ inputs: { k0sConfig } });
        lacking.files.set(POLICY, "");
        await assert.rejects(write(lacking), /not on this host: \/etc\/cloud\.conf\n/);
    });
});
