import assert from "node:assert/strict";
import { check } from "../../provider/resource/check";
import type { Bag } from "../../provider/resource/shape";
import { checked, failuresOf, PROGRAM } from "../support/node-bags";

const PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGVtcHR5ZW1wdHllbXB0eWVtcHR5ZW1wdHllbXB0eWVt";

describe("check", () => {
    it("fills every default in, so that a preview knows them", () => {
        assert.deepEqual(checked(), {
            host: "10.0.0.12",
            owner: "organization/mke/test/n",
            connection: { user: "root", port: 22, dialErrorLimit: 10, perDialTimeout: 15 },
            cluster: {
                controllers: [
                    {
                        host: "10.0.0.11",
                        connection: { user: "root", port: 22, dialErrorLimit: 10, perDialTimeout: 15 },
                    },
                ],
                minControllers: 1,
                maxControllers: 7,
            },
            role: "controller+worker",
            k0s: { installPath: "/usr/local/bin/k0s" },
            dataDir: "/var/lib/k0s",
            installFlags: [],
            labels: {},
            taints: [],
            drain: { enabled: true, timeout: 300, gracePeriod: -1, onFailure: "continue", concurrency: 1 },
            backup: { skip: false, unencrypted: false },
            lock: { adoptStale: false },
            mke: { redistributeWorkloads: true },
            registry: {},
            timeouts: {
                connect: 300,
                lock: 600,
                binary: 600,
                etcdJoin: 300,
                ready: 600,
                leave: 360,
                api: 600,
                stop: 120,
                reset: 300,
                backup: 600,
                addons: 900,
            },
            preflight: { os: true, minCpus: 1, minMemoryMiB: 900, minDiskMiB: 1700, cgroupV2: true, maxClockSkew: 30 },
            onUnreachable: "fail",
            onLastController: "fail",
            adopt: "unmarked",
            allowStrandedWorkers: false,
            triggers: [],
        });
        assert.equal(checked({}, "worker")["role"], "worker");
    });

    for (const kind of ["controller", "worker"] as const) {
        it(`accepts its own answer unchanged, as ignoreChanges sends it (${kind})`, () => {
            const inputs = checked({}, kind);
            assert.deepEqual(check(kind, inputs), { inputs, failures: [] });
        });
    }

    it("keeps what Pulumi adds out of the inputs", () => {
        assert.equal("__provider" in check("worker", { ...PROGRAM, __provider: "text" }).inputs, false);
    });

    it("names what is missing", () => {
        assert.deepEqual(
            check("controller", {})
                .failures.map(({ property }) => property)
                .sort(),
            ["cluster", "host", "owner"],
        );
        assert.match(failuresOf({ cluster: { controllers: [] } })["cluster.controllers"] ?? "", /at least one/);
        assert.match(failuresOf({ cluster: {} })["cluster.controllers"] ?? "", /required/);
        assert.match(failuresOf({ cluster: { controllers: [{}] } })["cluster.controllers[0].host"] ?? "", /required/);
        assert.match(failuresOf({ connection: { proxy: {} } })["connection.proxy.host"] ?? "", /required/);
    });

    const unknownFields: readonly [path: string, given: Bag, says: RegExp][] = [
        ["taint", { taint: [] }, /did you mean taints\?/],
        ["connection.privatekey", { connection: { privatekey: "x" } }, /did you mean privateKey\?/],
        ["connection.host", { connection: { host: "x" } }, /input of the resource itself/],
        ["connection.proxy.sudoPassword", { connection: { proxy: { host: "b", sudoPassword: "x" } } }, /bastion/],
        [
            "cluster.controllers[0].connection.usr",
            { cluster: { controllers: [{ host: "a", connection: { usr: "x" } }] } },
            /did you mean user\?/,
        ],
        ["timeouts.drain", { timeouts: { drain: 5 } }, /drain\.timeout/],
        ["status", { status: "ready" }, /is not an input/],
        ["toString", { toString: "x" }, /is not an input/],
        ["k0s.url", { k0s: { url: "https://a/k0s" } }, /did you mean downloadUrl\?/],
        ["registry.pass", { registry: { pass: "x" } }, /did you mean password\?/],
        ["config", { config: {} }, /did you mean k0sConfig\?/],
    ];
    for (const [path, given, says] of unknownFields) {
        it(`reports the unknown field ${path}`, () => {
            const failures = failuresOf(given);
            assert.deepEqual(Object.keys(failures), [path]);
            assert.match(failures[path] ?? "", says);
        });
    }

    const wrong: readonly [path: string, given: Bag, says: RegExp][] = [
        ["host", { host: 5 }, /must be a string, got a number/],
        ["host", { host: "root@10.0.0.1" }, /without user and port/],
        ["host", { host: "10.0.0.1:22" }, /without user and port, got "10.0.0.1:22"/],
        ["connection", { connection: "root" }, /must be an object, got a string/],
        ["connection.port", { connection: { port: "22" } }, /must be a number, got a string/],
        ["connection.port", { connection: { port: 70000 } }, /1 to 65535, got 70000/],
        ["connection.dialErrorLimit", { connection: { dialErrorLimit: -2 } }, /-1 for no limit/],
        ["connection.hostKey", { connection: { hostKey: "MD5:aa:bb" } }, /fingerprint \(SHA256:…\)/],
        ["connection.hostKey", { connection: { hostKey: `h1 ${PUBLIC_KEY}` } }, /known_hosts/],
        ["connection.hostKey", { connection: { hostKey: "ssh-ed25519 AAAA" } }, /damaged/],
        ["cluster.id", { cluster: { controllers: [{ host: "a" }], id: "mine" } }, /kube-system/],
        [
            "cluster.caFingerprint",
            { cluster: { controllers: [{ host: "a" }], caFingerprint: "ab" } },
            /sha256:<64 hexadecimal/,
        ],
        [
            "cluster.minControllers",
            { cluster: { controllers: [{ host: "a" }], minControllers: 5, maxControllers: 3 } },
            /not be above/,
        ],
        ["role", { role: "worker" }, /"controller\+worker" or "controller", got "worker"/],
        ["nodeName", { nodeName: "C2" }, /lower-case/],
        ["privateAddress", { privateAddress: "c2.internal" }, /IP address/],
        ["k0s.version", { k0s: { version: "1.36.3" } }, /v1\.36\.3/],
        [
            "k0s.localPath",
            { k0s: { localPath: "/k0s", downloadUrl: "https://a/k0s" } },
            /together with k0s\.downloadUrl/,
        ],
        ["k0s.downloadUrl", { k0s: { downloadUrl: "ftp://a/k0s" } }, /http/],
        ["k0s.downloadUrl", { k0s: { downloadUrl: "http://a/k0s" } }, /needs k0s\.sha256/],
        ["k0s.sha256", { k0s: { sha256: "ab".repeat(32) } }, /without k0s\.downloadUrl/],
        ["k0s.installPath", { k0s: { installPath: "/var/lib/k0s/k0s" } }, /inside dataDir/],
        ["dataDir", { dataDir: "var/k0s" }, /absolute/],
        ["dataDir", { dataDir: "/var/lib" }, /reset empties/],
        ["dataDir", { dataDir: "/srv/../etc" }, /absolute/],
        ["kubeletRootDir", { dataDir: "/srv/k0s/data", kubeletRootDir: "/srv/k0s" }, /must not hold dataDir/],
        ["labels", { labels: { "not ok": "x" } }, /not a label key/],
        ['labels["zone"]', { labels: { zone: "a b" } }, /label value/],
        ['labels["zone"]', { labels: { zone: 5 } }, /must be a string/],
        ["taints[1]", { taints: ["a=b:NoExecute", "a=b"] }, /key=value:Effect/],
        ["taints[0]", { taints: ["a:Never"] }, /NoSchedule/],
        ["drain.onFailure", { drain: { onFailure: "stop" } }, /"continue" or "fail", got "stop"/],
        ["timeouts.ready", { timeouts: { ready: 0 } }, /1 second or more/],
        ["preflight.minCpus", { preflight: { minCpus: true } }, /must be a number/],
        ["preflight.cgroupV2", { preflight: { cgroupV2: false } }, /--ignore-pre-flight-checks/],
        ["k0sConfig", { k0sConfig: "spec: {}" }, /must be a map/],
        [
            "k0sConfig.spec.storage.etcd.peerAddress",
            { k0sConfig: { spec: { storage: { etcd: { peerAddress: "10.0.0.2" } } } } },
            /privateAddress/,
        ],
        ["labels", { role: "controller", labels: { a: "b" } }, /has no Node/],
        ["triggers", { triggers: "now" }, /must be a list/],
        ["host", { host: "10.0.0.256" }, /must be an IP address/],
        ["privateAddress", { privateAddress: "127.0.0.1" }, /other machines reach/],
        ["privateAddress", { privateAddress: "10.0.0.12,10.0.0.13" }, /one of each family/],
        ["privateAddress", { privateAddress: "10.0.0.12,fd00::12,fd00::13" }, /one of each family/],
        ["privateAddress", { privateAddress: "10.0.0.12,::1" }, /other machines reach/],
        ["privateAddress", { privateAddress: "fe80::1" }, /other machines reach/],
        ["connection.sudoPassword", { connection: { sudoPassword: "a\nb" } }, /single line/],
        ["k0s.downloadUrl", { k0s: { downloadUrl: "https://a/k0s\n" } }, /without spaces and line breaks/],
        ["labels", { labels: { "kubernetes.io/hostname": "x" } }, /kubelet sets itself/],
        ["taints[1]", { taints: ["a=1:NoSchedule", "a=2:NoSchedule", "a:NoExecute"] }, /key and effect of another/],
        ["k0sConfig.network", { k0sConfig: { network: {} } }, /belongs into k0sConfig\.spec/],
        ["k0sConfig.kind", { k0sConfig: { kind: "Pod" } }, /must be ClusterConfig, got "Pod"/],
        ["k0sConfig.apiVersion", { k0sConfig: { apiVersion: "v1" } }, /k0s\.k0sproject\.io\/v1beta1/],
        ["k0sConfig.spec", { k0sConfig: { spec: "x" } }, /must be an object/],
        ["k0sConfig.spec.storage.type", { k0sConfig: { spec: { storage: { type: "kine" } } } }, /must be etcd/],
        [
            "k0sConfig.spec.storage.etcd.extraArgs.data-dir",
            { k0sConfig: { spec: { storage: { etcd: { extraArgs: { "data-dir": "/data/etcd" } } } } } },
            /Mount the disk there/,
        ],
        [
            "k0sConfig.spec.storage.etcd.externalCluster",
            { k0sConfig: { spec: { storage: { etcd: { externalCluster: {} } } } } },
            /not supported/,
        ],
    ];
    for (const [path, given, says] of wrong) {
        it(`reports ${path} ${JSON.stringify(given)}`, () => {
            const failures = failuresOf(given);
            assert.deepEqual(Object.keys(failures), [path]);
            assert.match(failures[path] ?? "", says);
        });
    }

    const flags: readonly [flag: string, says: RegExp][] = [
        ["--token-file=/tmp/t", /made and given to k0s/],
        ["--config=/etc/k0s.yaml", /k0sConfig/],
        ["-c=/etc/k0s.yaml", /k0sConfig/],
        ["--data-dir=/x", /dataDir/],
        ["--kubelet-root-dir=/x", /kubeletRootDir/],
        ["--enable-worker", /role/],
        ["--single", /single node/],
        ["--labels=a=b", /labels/],
        ["--taints=a:NoSchedule", /taints/],
        ["--force", /never overwritten/],
        ["--start", /started by this package/],
        ["--kubelet-extra-args=--v=2 --hostname-override=x", /nodeName/],
        ["--kubelet-extra-args=--node-ip=10.0.0.1", /privateAddress/],
        ["--kubelet-extra-args=--node-ip=10.0.0.1,10.0.0.2", /privateAddress/],
        ["--kubelet-extra-args=--node-ip=10.0.0.1,fd00::1 --node-labels=a=b", /input labels/],
        ['--kubelet-extra-args="--v=0"', /no quotes/],
        ["--kubelet-extra-args=--v=0 --x='y'", /no quotes/],
        ["profile", /--name=value/],
        ["--profile default", /--name=value/],
        ["--profile=a\n--force", /single line/],
    ];
    for (const [flag, says] of flags) {
        it(`refuses the install flag ${JSON.stringify(flag)}`, () => {
            assert.match(failuresOf({ installFlags: ["--profile=default", flag] })["installFlags[1]"] ?? "", says);
        });
    }

    it("lets other install flags through", () => {
        const installFlags = [
            "--no-taints",
            "--profile=x",
            "--kubelet-extra-args=--v=2 --max-pods=50",
            "--ignore-pre-flight-checks",
        ];
        assert.deepEqual(failuresOf({ installFlags, preflight: { cgroupV2: false } }), {});
    });

    it("refuses on a worker what only a controller has", () => {
        const given = {
            k0sConfig: { spec: {} },
            onLastController: "reset",
            allowStrandedWorkers: true,
            role: "controller",
        };
        const paths = Object.keys(failuresOf(given, "worker")).sort();
        assert.deepEqual(paths, ["allowStrandedWorkers", "k0sConfig", "onLastController", "role"]);
    });

    it("tells a fault of the login once, although the controllers have a copy of it", () => {
        const connection = { port: 0, pasword: "x" };
        const cluster = {
            controllers: [
                { host: "a", connection },
                { host: "b", connection: { port: 0, user: "" } },
            ],
        };
        const paths = Object.keys(failuresOf({ connection, cluster })).sort();
        assert.deepEqual(paths, ["cluster.controllers[1].connection.user", "connection.pasword", "connection.port"]);
    });

    it("accepts addresses, pins and host keys in all their forms", () => {
        const connection = {
            hostKey: PUBLIC_KEY,
            proxy: { host: "bastion.example", hostKey: `SHA256:${"a".repeat(43)}` },
        };
        const cluster = {
            controllers: [{ host: "fd00::1" }, { host: "c1.example.", connection }],
            id: "b57a9a0e-7e62-4b0b-a6b4-6a0a8f4b3c12",
            caFingerprint: `sha256:${"0f".repeat(32)}`,
        };
        const rest = { nodeName: "c2.example", privateAddress: "fd00::2", preflight: { minCpus: false } };
        assert.deepEqual(failuresOf({ connection, cluster, ...rest }), {});
        const both = "--kubelet-extra-args=--node-ip=10.0.0.12,fd00::12 --v=2";
        assert.deepEqual(failuresOf({ installFlags: [both] }), {});
        for (const privateAddress of ["10.0.0.12,fd00::12", "fd00::12,10.0.0.12"]) {
            assert.deepEqual(failuresOf({ privateAddress }), {});
        }
    });
});
