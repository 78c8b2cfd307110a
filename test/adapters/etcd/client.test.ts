import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { after, afterEach, before, describe, it } from "mocha";
import { connectEtcd, openEtcd } from "../../../provider/adapters/etcd/client";
import type { Etcd } from "../../../provider/adapters/etcd";
import { Deadline, waitFor } from "../../../provider/deadline";
import { ApiError, ConnectionError, type MkeError } from "../../../provider/errors";
import { EtcdCluster, type EtcdServer } from "../../support/etcd-server";
import { loopbackHost } from "../../support/loopback-host";
import { TestCa } from "../../support/pki";
import { freePort } from "../../support/program";
import { skipWithout } from "../../support/real-parts";

const NO_MEMBER = 0x1234n;

describe("etcd that cannot be reached", () => {
    it("names the certificate that is missing", async () => {
        const connecting = connectEtcd(loopbackHost({}), "/data", Deadline.afterSeconds(60));
        await assert.rejects(connecting, /\/data\/pki\/.* does not exist/);
    });

    it("is a passing failure when nobody listens", async () => {
        const ca = await TestCa.create();
        const { cert, key } = await ca.issue("CN=client");
        const port = await freePort();
        const credentials = { ca: Buffer.from(ca.cert), cert: Buffer.from(cert), key: Buffer.from(key) };
        const etcd = await openEtcd(loopbackHost({}), credentials, {
            server: { host: "127.0.0.1", port },
            timeout: 60_000,
        });
        try {
            await assert.rejects(etcd.members(), (error: MkeError) => {
                assert.ok(error instanceof ConnectionError && error.retryable, error.message);
                assert.match(error.message, /ECONNREFUSED/);
                return true;
            });
        } finally {
            etcd.close();
        }
    });
});

describe("a connection to etcd", () => {
    it("makes Node print no warning about a server name that is an address", async () => {
        const ca = await TestCa.create();
        const program = `
            const { openEtcd } = require(${JSON.stringify(require.resolve("../../../provider/adapters/etcd/client"))});
            const { loopbackHost } = require(${JSON.stringify(require.resolve("../../support/loopback-host"))});
            const buffers = Object.entries(JSON.parse(process.env.CREDENTIALS)).map(([k, v]) => [k, Buffer.from(v)]);
            const server = { host: "127.0.0.1", port: 9 };
            openEtcd(loopbackHost({}), Object.fromEntries(buffers), { server, timeout: 5000 })
                .then((etcd) => etcd.members().catch((error) => console.log(error.name)).finally(() => etcd.close()));`;
        const CREDENTIALS = JSON.stringify({ ca: ca.cert, ...(await ca.issue("CN=client")) });
        // a process of its own, because Node warns once in each
        const { stdout, stderr } = await promisify(execFile)(process.execPath, ["-e", program], {
            env: { ...process.env, CREDENTIALS },
        });
        assert.deepEqual([stdout, stderr], ["ConnectionError\n", ""]);
    });
});

describe("a real etcd of three members", () => {
    let cluster: EtcdCluster;
    const started: EtcdCluster[] = [];
    const opened: Etcd[] = [];

    before(async function () {
        skipWithout(this, "etcd");
        cluster = await EtcdCluster.start(["c1", "c2", "c3"]);
        started.push(cluster);
    });
    afterEach(() => {
        for (const etcd of opened.splice(0)) etcd.close();
    });
    after(() => Promise.all(started.map((one) => one.stop())));

    const member = (name: string): EtcdServer => {
        const found = cluster.members.find((one) => one.name === name);
        assert.ok(found);
        return found;
    };
    const connect = async (name: string, timeout?: number): Promise<Etcd> => {
        const etcd = await cluster.connect(member(name), timeout);
        opened.push(etcd);
        return etcd;
    };

    it("lists its members with IDs as numbers, peer addresses and no learner", async () => {
        const { members, clusterId } = await (await connect("c1")).members();
        assert.deepEqual(members.map(({ name }) => name).sort(), ["c1", "c2", "c3"]);
        assert.ok(members.every(({ id, learner }) => id > 0n && !learner) && clusterId > 0n);
        const c2 = members.find(({ name }) => name === "c2");
        assert.deepEqual(c2?.peerUrls, [`https://127.0.0.1:${member("c2").peerPort}`]);
    });

    it("says who it is, in which cluster, and who leads", async () => {
        const [one, two] = await Promise.all([(await connect("c1")).status(), (await connect("c2")).status()]);
        const { clusterId } = await (await connect("c1")).members();
        assert.deepEqual([one.clusterId, two.clusterId], [clusterId, clusterId]);
        assert.notEqual(one.memberId, two.memberId);
        assert.ok(one.leaderId !== undefined && one.leaderId === two.leaderId && !one.learner);
        assert.match(one.version, /^3\./);
    });

    it("has no alarms", async () => {
        assert.deepEqual(await (await connect("c1")).alarms(), []);
    });

    it("moves leadership when the leader is asked, and refuses when another one is", async () => {
        const { leaderId } = await (await connect("c1")).status();
        const { members } = await (await connect("c1")).members();
        const leader = members.find(({ id }) => id === leaderId);
        const follower = members.find(({ id }) => id !== leaderId);
        assert.ok(leader && follower);
        await assert.rejects((await connect(follower.name)).moveLeader(follower.id), ApiError);
        await (await connect(leader.name)).moveLeader(follower.id);
        const seen = await connect("c1");
        await waitFor({
            stage: "test",
            deadline: Deadline.afterSeconds(60),
            look: async () => {
                const now = (await seen.status()).leaderId;
                return now === follower.id ? { done: true } : { seen: String(now) };
            },
        });
    });

    it("answers not-found for a member that is gone", async () => {
        assert.equal(await (await connect("c1")).removeMember(NO_MEMBER), "not-found");
    });

    it("gives up on a member that hangs, in the time given, and works again with it afterwards", async () => {
        const hung = await connect("c3", 2000);
        member("c3").process.suspend();
        try {
            await assert.rejects(
                hung.status(),
                (error: MkeError) => error instanceof ConnectionError && error.retryable,
            );
        } finally {
            member("c3").process.resume();
        }
        await waitFor({
            stage: "test",
            deadline: Deadline.afterSeconds(60),
            look: async () => ({ done: (await hung.status()).version }),
        });
    });

    it("fails with a passing error without a majority, and removes a dead member with one", async () => {
        const etcd = await connect("c1");
        const { members } = await etcd.members();
        const c3 = members.find(({ name }) => name === "c3");
        assert.ok(c3);
        await member("c3").process.stop();
        const removing = (): Promise<"removed" | "not-found"> => etcd.removeMember(c3.id);
        // fresh links count as unhealthy for a while: that is what retryable is for
        const done = await waitFor({
            stage: "test",
            deadline: Deadline.afterSeconds(90),
            look: async () => ({ done: await removing() }),
        });
        assert.equal(done, "removed");
        assert.equal(await removing(), "not-found");
        await member("c2").process.stop();
        await assert.rejects((await connect("c1", 2000)).members(), (error: MkeError) => {
            assert.equal(error.retryable, true, error.message);
            return true;
        });
    });
});
