import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import { stringify } from "yaml";
import type { Etcd } from "../../provider/adapters/etcd";
import { Deadline } from "../../provider/deadline";
import { ConnectionError, RefusedError } from "../../provider/errors";
import { type ControllerClients, registeredName } from "../../provider/facts/controller";
import { caFingerprint as caFingerprintOf } from "../../provider/facts/host-probe";
import { connectCluster, type HelperRequest } from "../../provider/facts/helper";
import type { HostFacts } from "../../provider/facts/host";
import type { Connection, ControllerAddress } from "../../provider/inputs";
import { loopbackHost } from "../support/loopback-host";
import { TestCa } from "../support/pki";
import { CLUSTER_ID, controllerFacts, ETCD_CLUSTER_ID, fakeEtcd, fakeKube, MEMBERS, refused } from "./fakes";

const CONNECTION = { user: "root", port: 22, dialErrorLimit: 1, perDialTimeout: 1 } as Connection;
const address = (number: number): ControllerAddress => ({ host: `10.0.0.${number}`, connection: CONNECTION });

interface Machine {
    readonly facts?: HostFacts;
    readonly files?: Readonly<Record<string, string>>;
    readonly clusterId?: string;
    readonly etcd?: Partial<Record<keyof Etcd, () => unknown>>;
}

describe("finding a controller to work through", () => {
    let adminConf: string;
    let caFingerprint: string;
    let opened: string[];
    let closed: string[];
    let lines: string[];
    let details: string[];

    before(async () => {
        const ca = await TestCa.create();
        const { cert, key } = await ca.issue("CN=kubernetes-admin");
        const encode = (text: string): string => Buffer.from(text).toString("base64");
        caFingerprint = caFingerprintOf(ca.cert);
        adminConf = stringify({
            clusters: [{ cluster: { "certificate-authority-data": encode(ca.cert) } }],
            users: [{ user: { "client-certificate-data": encode(cert), "client-key-data": encode(key) } }],
        });
    });

    /** `undefined` for a machine that does not answer; every other one is a controller with what is given. */
    const connect = (machines: Readonly<Record<string, Machine | undefined>>, more: Partial<HelperRequest> = {}) => {
        [opened, closed, lines, details] = [[], [], [], []];
        const machineAt = (host: string): Machine => machines[host] ?? {};
        const clients: ControllerClients = {
            kube: (via) => {
                const { clusterId } = machineAt(via.address);
                return fakeKube(clusterId === undefined ? {} : { clusterId }, () => closed.push(`kube ${via.address}`));
            },
            etcd: async (host) => fakeEtcd(machineAt(host.address).etcd, () => closed.push(`etcd ${host.address}`)),
        };
        const openHost: HelperRequest["openHost"] = (host) => {
            opened.push(host);
            if (machines[host] === undefined) throw refused(host);
            const facts = machineAt(host).facts ?? controllerFacts(Number(host.split(".")[3]));
            return loopbackHost({
                address: host,
                facts,
                files: { "/data/pki/admin.conf": adminConf, ...machineAt(host).files },
            });
        };
        const request: HelperRequest = {
            candidates: [1, 2, 3].map(address),
            target: undefined,
            pins: { clusterId: CLUSTER_ID },
            openHost,
            log: { line: (text, from) => (from === "debug" ? details : lines).push(text) },
            clients,
            ...more,
        };
        return connectCluster(request, Deadline.after(5000));
    };

    /** What one restored alone from a backup serves: an etcd cluster of its own, and itself as the one member. */
    const restored = (number: number): Machine => ({
        etcd: {
            members: async () => ({ clusterId: 0xdefn, members: MEMBERS.slice(number - 1, number) }),
            status: async () => ({ memberId: BigInt(number), leaderId: BigInt(number), learner: false }),
        },
    });

    it("only to read, takes the first usable one in the program's order and does not bother the others", async () => {
        const { helperFacts } = await connect({ "10.0.0.1": {}, "10.0.0.2": {} }, { onlyToRead: true });
        assert.deepEqual(opened, ["10.0.0.1"]);
        assert.deepEqual(helperFacts, {
            address: "10.0.0.1",
            machineId: "machine 1",
            nodeName: "c1",
            memberId: 1n,
            clusterId: CLUSTER_ID,
            caFingerprint,
            etcdClusterId: ETCD_CLUSTER_ID,
            k0sVersion: "v1.36.3+k0s.2",
            dataDir: "/data",
            k0sPath: "/opt/k0s",
            args: ["controller"],
            arch: "amd64",
        });
    });

    it("never takes the target, named or under another address", async () => {
        const { helperFacts } = await connect({ "10.0.0.1": {}, "10.0.0.2": {} }, { target: "10.0.0.1" });
        assert.equal(helperFacts.address, "10.0.0.2");
        assert.ok(!opened.includes("10.0.0.1"));
        const facts = controllerFacts(1, { addresses: ["10.0.0.1", "192.168.0.1"] });
        const again = await connect({ "10.0.0.1": { facts }, "10.0.0.2": {} }, { target: "192.168.0.1" });
        assert.equal(again.helperFacts.address, "10.0.0.2");
        assert.match(
            lines.join("\n"),
            /not working through 10\.0\.0\.1: it is the node that is worked on, under another/,
        );
    });

    it("leaves out what was found to be the target under another address", async () => {
        const found = await connect({ "10.0.0.1": {}, "10.0.0.2": {} }, { target: "c1.example", itself: ["10.0.0.1"] });
        assert.equal(found.helperFacts.address, "10.0.0.2");
    });

    it("skips the unreachable, blank, foreign, and those that are no voter with a leader, each with its reason", async () => {
        const silent = { state: "silent", reason: "no socket" } as const;
        const status = { memberId: 1n, clusterId: 1n, leaderId: 2n, learner: false, version: "" };
        const machines: Record<string, Machine | undefined> = {
            "10.0.0.1": undefined,
            "10.0.0.2": {
                facts: controllerFacts(2, { status: silent, units: { controller: undefined, worker: undefined } }),
            },
            "10.0.0.3": { clusterId: "another cluster" },
            "10.0.0.4": { etcd: { status: async () => ({ ...status, learner: true }) } },
            "10.0.0.5": { etcd: { status: async () => ({ ...status, leaderId: undefined }) } },
            "10.0.0.6": { etcd: { status: async () => ({ ...status, memberId: 99n }) } },
            "10.0.0.7": { facts: controllerFacts(7, { status: silent }) },
            "10.0.0.8": { files: { "/run/k0s/k0s.yaml": "a: [" } },
            "10.0.0.9": {},
        };
        const candidates = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(address);
        const { helperFacts } = await connect(machines, { candidates });
        assert.equal(helperFacts.address, "10.0.0.9");
        const reasons = lines.map((line) => line.replace("not working through 10.0.0.", ""));
        const expected = [
            /^1: connecting on 10.0.0.1: connection refused$/,
            /^2: no controller is installed on it$/,
            /^3: it belongs to another cluster: another cluster, not 2f0c1c3e/,
            /^4: its etcd member is still a learner$/,
            /^5: its etcd has no leader$/,
            /^6: its etcd is not in its own member list$/,
            /^7: its k0s does not answer \(unit active\): no socket$/,
            /^8: its \/run\/k0s\/k0s.yaml is not YAML$/,
        ];
        assert.equal(reasons.length, expected.length);
        expected.forEach((pattern, index) => assert.match(reasons[index] ?? "", pattern));
        assert.deepEqual(
            closed.filter((one) => one.endsWith(".9")),
            [],
        );
        assert.ok(closed.includes("kube 10.0.0.3") && closed.includes("etcd 10.0.0.4"));
    });

    it("skips a controller with another CA than the pinned one", async () => {
        const pins = { clusterId: CLUSTER_ID, caFingerprint: "sha256:00" };
        await assert.rejects(connect({ "10.0.0.1": {} }, { pins, candidates: [address(1)] }), /another CA: sha256:/);
    });

    it("asks everybody at the first contact, and takes the first when they agree", async () => {
        const { helperFacts } = await connect({ "10.0.0.1": {}, "10.0.0.2": {}, "10.0.0.3": {} }, { pins: {} });
        assert.equal(helperFacts.address, "10.0.0.1");
        assert.deepEqual(opened.sort(), ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        assert.ok(
            closed.includes("etcd 10.0.0.2") && closed.includes("kube 10.0.0.3") && !closed.includes("etcd 10.0.0.1"),
        );
    });

    it("refuses at the first contact when two controllers belong to different clusters, and names both", async () => {
        const machines = { "10.0.0.1": {}, "10.0.0.2": { clusterId: "another" } };
        await assert.rejects(connect(machines, { pins: {} }), (error: RefusedError) => {
            assert.ok(error instanceof RefusedError);
            assert.match(error.message, /10\.0\.0\.1 has cluster 2f0c1c3e.*\n {2}10\.0\.0\.2 has cluster another/);
            return true;
        });
        assert.equal(closed.length, 4);
    });

    for (const [when, pins] of Object.entries({
        "at the first contact": {},
        "before a change": { clusterId: CLUSTER_ID },
    })) {
        it(`refuses ${when} when only etcd differs: one was restored alone, and nobody says which is right`, async () => {
            const machines = { "10.0.0.1": restored(1), "10.0.0.2": {}, "10.0.0.3": {} };
            await assert.rejects(connect(machines, { pins }), (error: RefusedError) => {
                assert.ok(error instanceof RefusedError);
                assert.match(error.message, /serve different etcd clusters, of one CA and one kube-system UID\n/);
                assert.match(error.message, /10\.0\.0\.1 .* etcd def of c1\n/);
                assert.match(error.message, /10\.0\.0\.2 .* etcd abc of c1, c2, c3\n/);
                assert.match(error.message, /The right one lists all controllers .*Runbook: .*#second-cluster$/s);
                return true;
            });
            assert.equal(closed.length, 6);
        });
    }

    it("works on once the wrong one is stopped, or no longer named", async () => {
        const stopped = { facts: controllerFacts(1, { status: { state: "silent", reason: "no socket" } }) };
        const found = await connect({ "10.0.0.1": stopped, "10.0.0.2": {}, "10.0.0.3": {} });
        assert.equal(found.helperFacts.address, "10.0.0.2");
        const candidates = [address(2), address(3)];
        const without = await connect({ "10.0.0.1": restored(1), "10.0.0.2": {}, "10.0.0.3": {} }, { candidates });
        assert.equal(without.helperFacts.address, "10.0.0.2");
    });

    it("misses no help of a host that this run makes a controller, and tells any other reason not to use it", async () => {
        const silent = { state: "silent", reason: "no socket" } as const;
        const blank = (number: number): Machine => ({
            facts: controllerFacts(number, { status: silent, units: { controller: undefined, worker: undefined } }),
        });
        const machines = { "10.0.0.1": blank(1), "10.0.0.2": blank(2), "10.0.0.3": undefined, "10.0.0.4": {} };
        const candidates = [1, 2, 3, 4].map(address);
        const isToCome = (host: string): boolean => host === "10.0.0.1" || host === "10.0.0.3";
        await connect(machines, { candidates, isToCome });
        assert.deepEqual(details, ["not working through 10.0.0.1: no controller is installed on it"]);
        assert.deepEqual(lines, [
            "not working through 10.0.0.2: no controller is installed on it",
            "not working through 10.0.0.3: connecting on 10.0.0.3: connection refused",
        ]);
    });

    it("does not count the target's word, whatever name the program has for it", async () => {
        const voter = (number: number): Machine => ({
            etcd: { status: async () => ({ memberId: BigInt(number), leaderId: 2n, learner: false }) },
        });
        const machines = { "10.0.0.1": restored(1), "10.0.0.2": voter(2), "10.0.0.3": voter(3) };
        const targetAddresses = async (): Promise<string[]> => ["172.17.0.1", "10.0.0.1"];
        const found = await connect(machines, { target: "c1.example.org", targetAddresses });
        assert.equal(found.helperFacts.address, "10.0.0.2");
        assert.deepEqual(lines, [
            "not working through 10.0.0.1: it is the node that is worked on, under another address",
        ]);
        assert.equal(closed.length, 4);
    });

    it("does not wait for long for one that hangs, when another can be used; what comes late is closed", async () => {
        let answer = (): void => undefined;
        const hangs = new Promise<void>((resolve) => (answer = resolve));
        const late = async (): Promise<unknown> => hangs.then(() => fakeEtcd().members());
        const machines = { "10.0.0.1": { etcd: { members: late } }, "10.0.0.2": {}, "10.0.0.3": {} };
        const found = await connect(machines, { othersLimit: 10 });
        assert.equal(found.helperFacts.address, "10.0.0.2");
        assert.deepEqual(lines, ["not working through 10.0.0.1: no answer in time"]);
        answer();
        while (!closed.includes("etcd 10.0.0.1")) await new Promise((resolve) => setImmediate(resolve));
    });

    it("lists every candidate with its reason when nobody can help, and may be tried again if one was away", async () => {
        const blank = controllerFacts(2, {
            status: { state: "silent", reason: "" },
            units: { controller: undefined, worker: undefined },
        });
        const machines = { "10.0.0.1": undefined, "10.0.0.2": { facts: blank } };
        const more = { candidates: [address(1), address(2)], pins: { clusterId: "nobody knows" }, target: "10.0.0.2x" };
        await assert.rejects(connect(machines, more), (error: ConnectionError) => {
            assert.ok(error instanceof ConnectionError && error.retryable);
            assert.match(
                error.message,
                /10\.0\.0\.1: connecting on.*\n {2}10\.0\.0\.2: no controller.*\nName a running/,
            );
            return true;
        });
        await assert.rejects(connect(machines, { ...more, candidates: [address(2)] }), RefusedError);
        await assert.rejects(connect(machines, { ...more, candidates: [] }), /no controller is named/);
    });

    const inForce = (storage: unknown): Machine => ({
        files: { "/run/k0s/k0s.yaml": stringify({ spec: { nodeConfig: { spec: { storage } } } }) },
    });
    const answers = controllerFacts(1).status;
    const single = controllerFacts(1, { status: { ...answers, singleNode: true } as HostFacts["status"] });
    const UNSUPPORTED: readonly (readonly [string, Machine, RegExp])[] = [
        [
            "kine",
            inForce({ type: "kine", kine: {} }),
            /its cluster keeps its objects in kine, which is not supported\n/,
        ],
        [
            "an external etcd",
            inForce({ type: "etcd", etcd: { externalCluster: { endpoints: [] } } }),
            /its cluster uses an external etcd, which is not supported\n/,
        ],
        [
            "--single",
            { facts: single },
            /it runs with `--single`, a cluster that nothing can join, which is not supported\n/,
        ],
    ];
    for (const [what, machine, reason] of UNSUPPORTED) {
        it(`refuses a cluster with ${what} in one error with the reason, and never tries again`, async () => {
            const machines = { "10.0.0.1": machine, "10.0.0.2": undefined };
            const candidates = [address(1), address(2)];
            for (const more of [
                { candidates },
                { candidates, onlyToRead: true },
                { candidates: [], alone: address(1) },
            ]) {
                await assert.rejects(connect(machines, more), (error: RefusedError) => {
                    assert.ok(error instanceof RefusedError && !error.retryable);
                    assert.match(error.message, reason);
                    assert.match(error.message, /Runbook: .*#storage$/);
                    return true;
                });
            }
            const found = await connect({ ...machines, "10.0.0.2": {} }, { candidates });
            assert.equal(found.helperFacts.address, "10.0.0.2");
        });
    }

    it("says how the first controller is made where all that are named are blank, or the node itself", async () => {
        const units = { controller: undefined, worker: undefined };
        const blank = (number: number): Machine => ({
            facts: controllerFacts(number, { status: { state: "silent", reason: "" }, units }),
        });
        const machines = { "10.0.0.1": blank(1), "10.0.0.2": blank(2) };
        const more = { candidates: [address(1), address(2)], pins: {}, target: "10.0.0.2" };
        await assert.rejects(connect(machines, more), (error: Error) => {
            assert.ok(error instanceof RefusedError);
            assert.match(error.message, /^finding a controller to work through on 10\.0\.0\.2: .*no cluster behind/);
            assert.match(error.message, /The first controller must exist: .*k0sctl or mkectl.*first-controller\.md/);
            return true;
        });
        await assert.rejects(connect({ ...machines, "10.0.0.1": undefined }, more), (error: Error) => {
            assert.doesNotMatch(error.message, /first controller/);
            return true;
        });
    });

    it("asks for the controllers that the cluster names when nobody else answers", async () => {
        const pins = { clusterId: "ours" };
        const machines = { "10.0.0.6": { clusterId: "ours" } };
        const lastResort = async (): Promise<ControllerAddress[]> => [address(6)];
        const found = await connect(machines, { pins, candidates: [address(1)], lastResort });
        assert.equal(found.helperFacts.address, "10.0.0.6");
        assert.deepEqual(opened, ["10.0.0.1", "10.0.0.6"]);
    });

    it("hands on the k0s.yaml as written, with ports and addresses in force", async () => {
        const files = {
            "/run/k0s/k0s.yaml": stringify({
                spec: {
                    nodeConfig: { spec: { api: { address: "10.0.0.1", port: 7443 }, images: {} } },
                    k0sVars: { StartupConfigPath: "/etc/k0s/k0s.yaml" },
                },
            }),
            "/etc/k0s/k0s.yaml": "spec: {network: {provider: custom}}",
        };
        const { config, apiPort } = await connect({ "10.0.0.1": { files } });
        assert.equal(apiPort, 7443);
        assert.deepEqual(config, {
            spec: {
                api: { address: "10.0.0.1", port: 7443 },
                storage: { etcd: {} },
                network: { provider: "custom" },
            },
        });
    });
});

describe("the Node name of a host", () => {
    it("is the kubelet's override, else the host's name in lower case", () => {
        const args = ["/k0s", "controller", "--kubelet-extra-args=--v=2 --hostname-override=Node-A --x"];
        const unit = { enabled: true, active: "active", sub: "running", restarts: 0, args };
        assert.equal(registeredName({ hostName: "H", units: { controller: unit, worker: undefined } }), "node-a");
        assert.equal(registeredName(controllerFacts(3)), "c3");
    });
});
