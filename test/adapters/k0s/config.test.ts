import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { parse } from "yaml";
import {
    configAfter,
    configForJoiner,
    handOnConfig,
    keptByCluster,
    notesForJoiner,
} from "../../../provider/adapters/k0s/config";
import { etcdDirectoriesIn } from "../../../provider/adapters/k0s/host-parts";
import { fixture } from "../../support/fixtures";

const HELPER = {
    apiVersion: "k0s.k0sproject.io/v1beta1",
    kind: "ClusterConfig",
    metadata: { name: "k0s" },
    spec: {
        api: {
            address: "10.0.0.1",
            externalAddress: "api.example.com",
            sans: ["10.0.0.1", "api.example.com"],
            extraArgs: {
                "advertise-address": "10.0.0.1",
                "bind-address": "0.0.0.0",
                "audit-policy-file": "/etc/k0s/audit.yaml",
            },
        },
        storage: {
            type: "etcd",
            etcd: {
                peerAddress: "10.0.0.1",
                extraArgs: {
                    name: "c1",
                    "listen-metrics-urls": "http://10.0.0.1:2381",
                    "initial-advertise-peer-urls": "https://10.0.0.1:2380",
                    "quota-backend-bytes": "8589934592",
                },
                rawArgs: ["--listen-client-http-urls=https://10.0.0.1:2382", "--auto-compaction-retention=1"],
            },
        },
        network: {
            podCIDR: "10.244.0.0/16",
            controlPlaneLoadBalancing: {
                keepalived: { vrrpInstances: [{ unicastSourceIP: "10.0.0.1", unicastPeers: ["10.0.0.2"] }] },
            },
        },
    },
};

const UNTOUCHED = JSON.stringify(HELPER);

interface Config {
    readonly spec: typeof HELPER.spec;
}

const joined = (user?: Record<string, unknown>, helper: unknown = HELPER): Config =>
    parse(configForJoiner(helper, { address: "10.0.0.2" }, user)) as Config;

describe("the k0s.yaml of a joining controller", () => {
    it("has the joiner's addresses, not the helper's", () => {
        const { api, storage } = joined().spec;
        assert.deepEqual([api.address, storage.etcd.peerAddress], ["10.0.0.2", "10.0.0.2"]);
    });

    it("keeps what belongs to the cluster", () => {
        const { spec } = joined();
        assert.equal(spec.api.externalAddress, "api.example.com");
        assert.deepEqual(spec.api.sans, ["10.0.0.1", "api.example.com"]);
        assert.equal(spec.network.podCIDR, "10.244.0.0/16");
        assert.equal(spec.api.extraArgs["audit-policy-file"], "/etc/k0s/audit.yaml");
    });

    it("is stripped of the etcd arguments that name the helper", () => {
        const { etcd } = joined().spec.storage;
        assert.deepEqual(etcd.extraArgs, { "quota-backend-bytes": "8589934592" });
        assert.deepEqual(etcd.rawArgs, ["--auto-compaction-retention=1"]);
    });

    it("is stripped of the API server's own address, not of one that means all", () => {
        const { extraArgs } = joined().spec.api;
        assert.deepEqual(Object.keys(extraArgs).sort(), ["audit-policy-file", "bind-address"]);
    });

    it("listens on its own address where the helper listens on one, in the words of the helper", () => {
        const only = { spec: { api: { address: "10.0.0.1", onlyBindToAddress: true } } };
        assert.deepEqual(joined(undefined, only).spec.api, { address: "10.0.0.2", onlyBindToAddress: true });
        const api = {
            extraArgs: { "bind-address": "10.0.0.1" },
            rawArgs: ["--v=2", "--bind-address", "10.0.0.1", "--bind-address=::1"],
        };
        assert.deepEqual(joined(undefined, { spec: { api } }).spec.api, {
            address: "10.0.0.2",
            extraArgs: { "bind-address": "10.0.0.2" },
            rawArgs: ["--v=2", "--bind-address", "10.0.0.2", "--bind-address=::1"],
        });
        assert.deepEqual(notesForJoiner({ spec: { api } }, { address: "10.0.0.2" }), []);
    });

    it("lets keepalived speak from the joiner's address", () => {
        const { vrrpInstances } = joined().spec.network.controlPlaneLoadBalancing.keepalived;
        assert.deepEqual(vrrpInstances, [{ unicastSourceIP: "10.0.0.2", unicastPeers: ["10.0.0.1"] }]);
    });

    it("has keepalived know the joiner's own IPv6 address whatever way it is written", () => {
        const spoken = { unicastSourceIP: "fd00::1", unicastPeers: ["FD00:0::2"] };
        const keepalived = { vrrpInstances: [spoken] };
        const helper = { spec: { network: { controlPlaneLoadBalancing: { keepalived } } } };
        const { spec } = parse(configForJoiner(helper, { address: "fd00::2" }, undefined)) as Config;
        assert.deepEqual(spec.network.controlPlaneLoadBalancing.keepalived.vrrpInstances, [
            { unicastSourceIP: "fd00::2", unicastPeers: ["fd00::1"] },
        ]);
        assert.deepEqual(notesForJoiner(helper, { address: "fd00::2" }), []);
    });

    it("keeps the addresses of etcd's metrics that mean every host", () => {
        const metrics = (urls: string) => {
            const etcd = { extraArgs: { "listen-metrics-urls": urls } };
            const { storage } = joined(undefined, { spec: { storage: { etcd } } }).spec;
            return (storage.etcd.extraArgs as Partial<typeof storage.etcd.extraArgs>)["listen-metrics-urls"];
        };
        assert.equal(metrics("http://0.0.0.0:2381"), "http://0.0.0.0:2381");
        assert.equal(metrics("http://[::]:2381,http://10.0.0.1:2382"), "http://[::]:2381");
        assert.equal(metrics("http://127.0.0.1:2381"), "http://127.0.0.1:2381");
        assert.equal(metrics("http://10.0.0.1:2381"), undefined);
    });

    it("leaves etcd's data where k0s looks for it: it would join again at every start", () => {
        const etcd = { extraArgs: { "data-dir": "/data/etcd", "wal-dir": "/data/wal" }, rawArgs: ["--data-dir", "/x"] };
        const { storage } = joined(undefined, { spec: { storage: { etcd } } }).spec;
        assert.deepEqual(storage.etcd.extraArgs, { "wal-dir": "/data/wal" });
        assert.deepEqual(storage.etcd.rawArgs, []);
        assert.deepEqual(etcdDirectoriesIn({ spec: { storage: { etcd } } }), ["/data/etcd", "/data/wal", "/x"]);
        assert.deepEqual(etcdDirectoriesIn(HELPER), []);
    });

    it("is stripped of arguments in two words with their values", () => {
        const rawArgs = ["--v", "2", "--advertise-address", "10.0.0.1", "--bind-address", "0.0.0.0", "--profiling"];
        const { api } = joined(undefined, { spec: { api: { rawArgs } } }).spec as { api: { rawArgs?: unknown } };
        assert.deepEqual(api.rawArgs, ["--v", "2", "--bind-address", "0.0.0.0", "--profiling"]);
    });

    it("has notes on what was left out, by name, and on a keepalived that others do not know", () => {
        const notes = notesForJoiner(HELPER, { address: "10.0.0.9" });
        assert.deepEqual(notes, [
            "left out of its k0s.yaml, because it belongs to one host alone: spec.api.extraArgs.advertise-address, " +
                "spec.storage.etcd.extraArgs.name, spec.storage.etcd.extraArgs.listen-metrics-urls, " +
                "spec.storage.etcd.extraArgs.initial-advertise-peer-urls, " +
                "spec.storage.etcd.rawArgs.listen-client-http-urls",
            "keepalived's unicastPeers in the other controllers' k0s.yaml do not name 10.0.0.9: add it there",
        ]);
        assert.equal(notesForJoiner(HELPER, { address: "10.0.0.2" }).length, 1);
        assert.deepEqual(notesForJoiner(undefined, { address: "10.0.0.2" }), []);
    });

    it("has the user's values over everything, maps merged, lists replaced", () => {
        const { spec } = joined({ spec: { api: { address: "10.9.9.9", sans: ["x"] }, telemetry: { enabled: false } } });
        assert.deepEqual([spec.api.address, spec.api.sans], ["10.9.9.9", ["x"]]);
        assert.equal(spec.api.externalAddress, "api.example.com");
        assert.deepEqual((spec as Record<string, unknown>)["telemetry"], { enabled: false });
    });

    it("does not change the helper's", () => {
        joined({ spec: { api: { sans: [] } } });
        assert.equal(JSON.stringify(HELPER), UNTOUCHED);
    });

    it("is complete where the helper runs without any", () => {
        const config = configForJoiner(undefined, { address: "10.0.0.2" }, undefined);
        assert.deepEqual(parse(config), {
            apiVersion: "k0s.k0sproject.io/v1beta1",
            kind: "ClusterConfig",
            spec: { api: { address: "10.0.0.2" }, storage: { type: "etcd", etcd: { peerAddress: "10.0.0.2" } } },
        });
    });
});

describe("the configuration to hand on", () => {
    const inForce = (fixture("status-controller-worker.json") as { ClusterConfig: { spec: Record<string, unknown> } })
        .ClusterConfig;

    it("is the written one with the addresses in force, without the defaults of the helper's version", () => {
        const written = { spec: { network: { provider: "custom" } } };
        const { spec } = handOnConfig(written, inForce) as { spec: Record<string, unknown> };
        assert.deepEqual(spec["api"], { address: "10.77.0.11", port: 6443, k0sApiPort: 9443 });
        assert.deepEqual(spec["network"], { provider: "custom" });
        assert.ok("images" in inForce.spec && !("images" in spec));
    });

    it("prefers what is written", () => {
        const { spec } = handOnConfig({ spec: { api: { port: 7443 } } }, inForce) as { spec: { api: object } };
        assert.deepEqual(spec.api, { address: "10.77.0.11", port: 7443, k0sApiPort: 9443 });
    });

    it("is the one in force where nothing readable is written", () =>
        assert.equal(handOnConfig("text", inForce), inForce));
});

describe("the k0s.yaml of a running controller", () => {
    const OWN = `# by hand
apiVersion: k0s.k0sproject.io/v1beta1
kind: ClusterConfig
spec:
  api:
    address: 10.0.0.2
    extraArgs: { v: "2", profiling: "false" }
  telemetry: { enabled: false }
`;
    const after = (
        own: string | undefined,
        before: Record<string, unknown>[],
        now?: Record<string, unknown>,
    ): unknown => parse(configAfter(own, { helperConfig: HELPER, address: "10.0.0.2" }, before, now));
    const args = (extraArgs: Record<string, string>): Record<string, unknown> => ({ spec: { api: { extraArgs } } });
    const ownArgs = (config: unknown): unknown => (config as Config).spec.api.extraArgs;

    it("is the same text where nothing differs, comments included", () => {
        const same = (now: Record<string, unknown> | undefined): string =>
            configAfter(OWN, { helperConfig: HELPER, address: "10.0.0.2" }, [{}], now);
        assert.equal(same(undefined), OWN);
        assert.equal(same(args({ v: "2" })), OWN);
    });

    it("gets what the program names, and keeps what the node has of its own", () => {
        const found = after(OWN, [args({ v: "2" })], args({ v: "4" }));
        assert.deepEqual(found, {
            ...(parse(OWN) as object),
            spec: {
                api: { address: "10.0.0.2", extraArgs: { v: "4", profiling: "false" } },
                telemetry: { enabled: false },
            },
        });
    });

    it("loses what the program no longer names, if it is the program's", () => {
        assert.deepEqual(ownArgs(after(OWN, [args({ v: "2", profiling: "true" })])), { profiling: "false" });
        const all = after(OWN, [{ spec: { telemetry: { enabled: false } } }]) as { spec: object };
        assert.deepEqual(Object.keys(all.spec), ["api"]);
    });

    it("gets back what a joining node would have there", () => {
        const before = args({ "audit-policy-file": "/etc/other.yaml" });
        const own = configForJoiner(HELPER, { address: "10.0.0.2" }, before);
        assert.deepEqual(after(own, [before]), joined());
    });

    it("takes an interrupted change back as well", () => {
        const once = configAfter(OWN, { helperConfig: HELPER, address: "10.0.0.2" }, [{}], args({ "enable-x": "1" }));
        assert.deepEqual(after(once, [{}, args({ "enable-x": "1" })]), parse(OWN));
    });

    it("tells what stays of the program's because the controller that helps has it too", () => {
        const joiner = { helperConfig: { spec: { api: { extraArgs: { v: "2" } } } }, address: "10.0.0.2" };
        const before = [args({ v: "2", "enable-x": "1" })];
        assert.deepEqual(keptByCluster(joiner, before, undefined), ["spec.api.extraArgs.v"]);
        assert.deepEqual(keptByCluster(joiner, before, args({ v: "4" })), []);
    });

    it("is read by k0s as what it is here, also where YAML 1.1 sees more than text", () => {
        const text = configAfter("spec:\n  api:\n    onlyBindToAddress: yes\n", { helperConfig: {}, address: "" }, [], {
            spec: { api: { extraArgs: { "allow-privileged": "no" } } },
        });
        assert.match(text, /onlyBindToAddress: true\n/);
        assert.match(text, /allow-privileged: "no"\n/);
    });

    it("begins where there was none", () => {
        assert.deepEqual(after(undefined, [{}], args({ v: "4" })), {
            apiVersion: "k0s.k0sproject.io/v1beta1",
            kind: "ClusterConfig",
            spec: { api: { extraArgs: { v: "4" } } },
        });
    });
});
