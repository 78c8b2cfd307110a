import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { Client } from "ssh2";
import { connectEtcd } from "../../provider/adapters/etcd/client";
import { encodeProgram, decodeResult } from "../../provider/adapters/host/program";
import { connectKube } from "../../provider/adapters/kube/client";
import { closeAll, openHost } from "../../provider/adapters/ssh/pool";
import type { Host, HostView } from "../../provider/adapters/host";
import { Deadline, type Look, waitFor } from "../../provider/deadline";
import type { Connection } from "../../provider/inputs";
import { K0S_VERSION, type Simulation, startSimulation } from ".";

const PATHS = { dataDir: "/var/lib/k0s", k0sPath: "/usr/local/bin/k0s" };
/** Simulated seconds that make a Node older than it can get in the time that a test takes. */
const LONG = 100_000;
const soon = (): Deadline => Deadline.afterSeconds(60);

describe("a simulated host over SSH", () => {
    let sim: Simulation;

    beforeEach(async () => {
        sim = await startSimulation();
        sim.host("c1", { address: "10.77.0.11" });
        sim.host("n1", { address: "10.77.0.21" });
        sim.bootstrapController("c1");
    });

    afterEach(async () => {
        closeAll();
        await sim.close();
    });

    function hostOf(name: string): Host {
        const login = { dialErrorLimit: 0, perDialTimeout: 30 };
        const { proxy, ...args } = sim.connectionArgs(name);
        const connection: Connection = { ...args, ...login, ...(proxy && { proxy: { ...proxy, ...login } }) };
        return openHost(sim.find(name).address, connection).onMachine({ machineId: "" });
    }

    it("runs a program for a plain SSH client that knows nothing of the simulation", async () => {
        const { host, port, user, privateKey } = await sim.directConnectionArgs("n1");
        const output = await execute(
            { host, port, username: user, privateKey },
            "sh -s",
            encodeProgram("exists", { FILE: "/etc/os-release" }, ":"),
        );
        assert.equal(decodeResult(output)?.stdout.toString(), "yes");
    });

    it("answers the provider's probe with the facts of a running controller", async () => {
        const facts = await hostOf("c1").probe(PATHS, soon());
        assert.equal(facts.hostName, "c1");
        assert.equal(facts.units.controller?.active, "active");
        assert.equal(facts.status.state, "answers");
        assert.deepEqual(facts.binary, { path: PATHS.k0sPath, version: K0S_VERSION });
        assert.equal(facts.data.etcdDatabase, true);
        assert.equal(facts.runLockHeld, true);
    });

    it("answers the provider's probe with the facts of a blank machine", async () => {
        const facts = await hostOf("n1").probe(PATHS, soon());
        assert.equal(facts.binary, undefined);
        assert.deepEqual(facts.units, { controller: undefined, worker: undefined });
        assert.equal(facts.ca.pki, undefined);
        assert.equal(facts.tokenFile, "absent");
    });

    it("takes an executable in a stream and gives it back", async () => {
        const [from, to] = [hostOf("c1"), hostOf("n1")];
        const { content, size } = await from.openFile(PATHS.k0sPath, soon());
        await to.putExecutable(PATHS.k0sPath, content, { size }, soon());
        assert.equal(await to.k0sVersion(PATHS.k0sPath, soon()), K0S_VERSION);
    });

    it("tells open, refused and blocked ports apart", async () => {
        const n1 = hostOf("n1");
        sim.find("c1").firewall({ port: 2380 });
        assert.equal(await n1.reach("10.77.0.11", 6443, soon()), "open");
        assert.equal(await n1.reach("10.77.0.11", 2379, soon()), "refused");
        assert.equal(await n1.reach("10.77.0.11", 2380, Deadline.after(1000)), "blocked");
    });

    it("serves etcd to the provider's client", async () => {
        const etcd = await connectEtcd(hostOf("c1"), PATHS.dataDir, soon());
        try {
            const { members, clusterId } = await etcd.members();
            assert.deepEqual(
                members.map(({ name, peerUrls, learner }) => ({ name, peerUrls, learner })),
                [{ name: "c1", peerUrls: ["https://10.77.0.11:2380"], learner: false }],
            );
            const status = await etcd.status();
            assert.equal(status.leaderId, members[0]?.id);
            assert.equal(status.clusterId, clusterId);
            assert.deepEqual(await etcd.alarms(), []);
        } finally {
            etcd.close();
        }
    });

    it("serves the Kubernetes API to the provider's client", async () => {
        sim.advance(LONG);
        const kube = await connectKube(hostOf("c1"), PATHS.dataDir, soon());
        try {
            assert.equal(await kube.clusterId(), sim.cluster.id);
            assert.equal(await kube.isReady("/readyz/etcd"), true);
            const [node] = await kube.nodes();
            assert.equal(node?.name, "c1");
            assert.equal(node.ready, true);
            // Its age in real time is its simulated age; both the store and the server round down to whole seconds.
            const age = (Date.now() - node.readySince) / 1000;
            assert.ok(age >= LONG && age <= sim.now + 3, `${age} s of ${sim.now} s`);
            const [object] = await kube.etcdMembers();
            assert.equal(object?.memberId, sim.members()[0]?.id);
            assert.equal((await kube.controlNodes())[0]?.k0sVersion, K0S_VERSION);
            assert.equal(await kube.hasMke(), false);
        } finally {
            kube.close();
        }
    });

    it("says that a hung etcd is not ready, two simulated seconds later", async () => {
        sim.find("c1").hangEtcd();
        const kube = await connectKube(hostOf("c1"), PATHS.dataDir, soon());
        try {
            const before = sim.now;
            assert.equal(await kube.isReady("/readyz/etcd"), false);
            assert.ok(sim.now - before >= 2);
        } finally {
            kube.close();
        }
    });

    it("asks other users for sudo's password where it is set, and takes only the right one", async () => {
        sim.host("s1", { address: "10.77.0.51", sudoPassword: "open sesame" });
        const { privateKey, port, proxy } = sim.connectionArgs("s1");
        const login = { dialErrorLimit: 0, perDialTimeout: 30, privateKey, port };
        const as = (sudoPassword: string): HostView => {
            const bastion = proxy && { proxy: { ...proxy, ...login, port: proxy.port } };
            return openHost("10.77.0.51", { user: "admin", ...login, ...bastion, sudoPassword });
        };
        assert.equal(await as("open sesame").exists("/etc/os-release", soon()), true);
        await assert.rejects(as("barley").exists("/etc/os-release", soon()), /does not accept the password/);
    });

    it("breaks connections when the power is cut, and answers again when it is back", async () => {
        const n1 = hostOf("n1");
        await n1.exists("/", soon());
        sim.find("n1").powerOff();
        await assert.rejects(n1.exists("/", Deadline.after(500)));
        sim.find("n1").powerOn();
        const look = async (): Promise<Look<boolean>> => ({ done: await n1.exists("/", soon()) });
        assert.equal(await waitFor({ stage: "waiting for n1", deadline: soon(), look }), true);
    });

    it("records each program by host, and fails loudly on one it does not know", async () => {
        await hostOf("n1").exists("/etc/os-release", soon());
        assert.deepEqual(
            sim.events.filter(({ kind }) => kind === "program").map(({ host, what }) => `${host} ${what}`),
            ["n1 exists"],
        );
        sim.assertInvariants();
        const { host, port, user, privateKey } = await sim.directConnectionArgs("n1");
        await execute({ host, port, username: user, privateKey }, "sh -s", encodeProgram("dance", {}, ":"));
        assert.throws(() => sim.assertInvariants(), /does not know the program dance/);
    });
});

interface Login {
    readonly host: string;
    readonly port: number;
    readonly username: string;
    readonly privateKey: string;
}

function execute(login: Login, command: string, input: string): Promise<Buffer> {
    const client = new Client();
    const output: Buffer[] = [];
    return new Promise<Buffer>((resolve, reject) => {
        client.on("error", reject);
        client.on("ready", () => {
            client.exec(command, (error, channel) => {
                if (error) return reject(error);
                channel.on("data", (chunk: Buffer) => output.push(chunk));
                channel.on("close", () => resolve(Buffer.concat(output)));
                channel.end(input);
            });
        });
        client.connect(login);
    }).finally(() => client.end());
}
