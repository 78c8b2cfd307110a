import assert from "node:assert/strict";
import { describe, it } from "mocha";
import {
    apiAccessOf,
    apiServerOf,
    externalHostOf,
    joinPortOf,
    joinServerOf,
} from "../../../provider/adapters/k0s/api-address";

const api = (fields: object): unknown => ({ spec: { api: fields } });
const HELPER = "10.0.0.1";

describe("the API server that join tokens name", () => {
    it("is the external address, else the controller's own, else where the controller was reached", () => {
        const both = { externalAddress: "k8s.example.com", address: "192.0.2.1" };
        assert.deepEqual(apiServerOf(api(both), HELPER), { host: "k8s.example.com", port: 6443 });
        assert.deepEqual(apiServerOf(api({ address: "192.0.2.1" }), HELPER), { host: "192.0.2.1", port: 6443 });
        assert.deepEqual(apiServerOf({}, HELPER), { host: HELPER, port: 6443 });
        assert.deepEqual(apiServerOf(undefined, HELPER), { host: HELPER, port: 6443 });
    });

    it("is an external address with the port that it brings, for controllers as well", () => {
        const through = (externalAddress: string) => api({ externalAddress, port: 7443, k0sApiPort: 9743 });
        for (const [external, host] of [
            ["10.0.0.100:8443", "10.0.0.100"],
            ["api.example.com:8443", "api.example.com"],
            ["[fd00::100]:8443", "fd00::100"],
        ] as const) {
            assert.deepEqual(apiServerOf(through(external), HELPER), { host, port: 8443 });
            assert.deepEqual(joinServerOf(through(external), HELPER), { host, port: 8443 });
            assert.equal(externalHostOf(through(external)), host);
        }
        assert.deepEqual(apiServerOf(through("fd00::100"), HELPER), { host: "fd00::100", port: 7443 });
        assert.deepEqual(joinServerOf(through("10.0.0.100"), HELPER), { host: "10.0.0.100", port: 9743 });
        assert.equal(externalHostOf(api({})), undefined);
    });

    it("is found in a configuration with empty parts", () => {
        for (const config of [null, {}, { spec: null }, { spec: { api: null, network: null } }]) {
            assert.deepEqual(apiServerOf(config, HELPER), { host: HELPER, port: 6443 });
            assert.equal(apiAccessOf(config), "controllers");
        }
    });

    it("takes an empty address for none", () => {
        assert.equal(apiServerOf(api({ externalAddress: "", address: "" }), HELPER).host, HELPER);
        assert.equal(apiAccessOf(api({ externalAddress: "" })), "controllers");
    });

    it("listens on the port of the configuration", () => {
        assert.equal(apiServerOf(api({ port: 7443 }), HELPER).port, 7443);
        assert.equal(joinPortOf(api({ k0sApiPort: 9999 })), 9999);
        assert.equal(joinPortOf(undefined), 9443);
    });
});

describe("the way of workers to the API", () => {
    const balancing = (enabled: boolean): unknown => ({ spec: { network: { nodeLocalLoadBalancing: { enabled } } } });

    it("depends on no single controller with an external address or a balancer on each node", () => {
        assert.equal(apiAccessOf(api({ externalAddress: "k8s.example.com" })), "external");
        assert.equal(apiAccessOf(balancing(true)), "node-local");
    });

    it("goes through the controllers otherwise, also where nothing is known", () => {
        assert.equal(apiAccessOf(balancing(false)), "controllers");
        assert.equal(apiAccessOf(api({ address: "192.0.2.1" })), "controllers");
        assert.equal(apiAccessOf(undefined), "controllers");
    });
});
