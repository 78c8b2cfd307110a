import assert from "node:assert/strict";
import dns from "node:dns";
import { after, before, describe, it } from "mocha";
import { type SshEndpoint, SshPool } from "../../../provider/adapters/ssh/endpoint";
import { Deadline } from "../../../provider/deadline";
import { ConnectionError, HostKeyError, InputError, OtherMachineError, TimeoutError } from "../../../provider/errors";
import { newSshKey } from "../../support/ssh-key";
import { TestAgent, withEnvironment } from "../../support/ssh-agent";
import { freePort } from "../../support/program";
import { skipWithout } from "../../support/real-parts";
import { CuttableLink, SSHD_PARTS, TestSshd } from "../../support/sshd";
import { soon } from "../host/over-sshd";

const HOST = "127.0.0.1";

function escaped(text: string): string {
    return text.replace(/[+/.]/g, "\\$&");
}

describe("SSH connections to a real sshd", () => {
    let sshd: TestSshd;
    let stop = (): void => undefined;
    const pool = new SshPool();

    before(async function () {
        skipWithout(this, ...SSHD_PARTS);
        sshd = await TestSshd.start();
        stop = () => sshd.stop();
    });

    after(() => {
        pool.closeAll();
        stop();
    });

    /** A pool of its own, so that a test's connections are new ones. */
    async function fingerprint(changes: Parameters<TestSshd["connection"]>[0]): Promise<string> {
        const own = new SshPool();
        try {
            return await own.endpoint(HOST, sshd.connection(changes)).hostKeyFingerprint(soon());
        } finally {
            own.closeAll();
        }
    }

    it("accept a host key given as a public key of any type the host has", async () => {
        for (const type of ["ed25519", "rsa", "ecdsa"] as const) {
            assert.equal(await fingerprint({ hostKey: sshd.hostKey(type) }), sshd.hostKeyFingerprint(type));
        }
    });

    it("accept a host key given as the fingerprint of any type the host has", async () => {
        for (const type of ["ed25519", "rsa", "ecdsa"] as const) {
            const hostKey = sshd.hostKeyFingerprint(type);
            assert.equal(await fingerprint({ hostKey }), hostKey);
        }
    });

    it("refuse another host key, by text and by fingerprint, without retrying", async () => {
        const other = await TestSshd.start();
        try {
            for (const hostKey of [other.hostKey("ed25519"), other.hostKeyFingerprint("rsa")]) {
                await assert.rejects(fingerprint({ hostKey, dialErrorLimit: -1 }), (error: Error) => {
                    assert.ok(error instanceof HostKeyError);
                    assert.equal(error.retryable, false);
                    assert.match(error.message, /host key is not the expected one/);
                    return true;
                });
            }
        } finally {
            other.stop();
        }
    });

    it("refuse a hostKey that is no key", async () => {
        await assert.rejects(fingerprint({ hostKey: "ssh-ed25519 nonsense" }), InputError);
        await assert.rejects(fingerprint({ hostKey: "SHA256:short" }), InputError);
    });

    it("read an encrypted key, and say so when the passphrase is wrong", async () => {
        const privateKey = sshd.key("locked");
        assert.match(await fingerprint({ privateKey, privateKeyPassword: "open sesame" }), /^SHA256:/);
        await assert.rejects(fingerprint({ privateKey, privateKeyPassword: "wrong" }), (error: Error) => {
            assert.ok(error instanceof InputError);
            assert.ok(!error.message.includes("BEGIN"));
            return true;
        });
    });

    it("use a key of the environment, or of its agent, where the one given is refused", async () => {
        const old = newSshKey();
        const agent = await TestAgent.start(newSshKey(), sshd.key());
        try {
            await assert.rejects(fingerprint({ privateKey: old }), /does not let root in/);
            for (const environment of [
                { SSH_AUTH_SOCK: agent.socket },
                { PULUMI_MKE_PRIVATE_KEY: sshd.key() },
                {
                    PULUMI_MKE_PRIVATE_KEY: sshd.key("locked"),
                    PULUMI_MKE_PRIVATE_KEY_PASSWORD: "open sesame",
                    SSH_AUTH_SOCK: "/nowhere",
                },
            ]) {
                const found = await withEnvironment(environment, () => fingerprint({ privateKey: old }));
                assert.match(found, /^SHA256:/);
            }
        } finally {
            agent.stop();
        }
    });

    it("tell a refused login also where the server hangs up before all keys of an agent were tried", async () => {
        const agent = await TestAgent.start(...Array.from({ length: 7 }, newSshKey));
        try {
            const refused = fingerprint({ privateKey: newSshKey(), agentSocketPath: agent.socket, dialErrorLimit: -1 });
            await assert.rejects(refused, (error: Error) => {
                assert.ok(error instanceof ConnectionError);
                assert.equal(error.retryable, false);
                assert.match(error.message, /does not let root in \(tried: private key, SSH agent\)/);
                return true;
            });
        } finally {
            agent.stop();
        }
    });

    it("are not tried again when the login is refused", async () => {
        const { privateKey: _, ...withoutKey } = sshd.connection();
        const own = new SshPool();
        const login = { ...withoutKey, user: "no-such-user", password: "secret-word", dialErrorLimit: -1 };
        await assert.rejects(own.endpoint(HOST, login).hostKeyFingerprint(soon()), (error: Error) => {
            assert.ok(error instanceof ConnectionError);
            assert.equal(error.retryable, false);
            assert.match(error.message, /does not let no-such-user in \(tried: password/);
            assert.ok(!error.message.includes("secret-word"));
            return true;
        });
        own.closeAll();
    });

    it("say that a connection is refused, after as many attempts as dialErrorLimit allows", async () => {
        const port = await freePort();
        await assert.rejects(fingerprint({ port, dialErrorLimit: 1 }), (error: Error) => {
            assert.ok(error instanceof ConnectionError);
            assert.match(error.message, new RegExp(`connection refused on port ${port} \\(after 2 attempts\\)`));
            return true;
        });
    });

    it("say that nobody answers within perDialTimeout", async () => {
        const { createServer } = await import("node:net");
        const silent = createServer(() => undefined).listen(0, HOST);
        await new Promise((resolve) => silent.once("listening", resolve));
        const port = (silent.address() as { port: number }).port;
        const sockets: { destroy(): void }[] = [];
        silent.on("connection", (socket) => sockets.push(socket));
        await assert.rejects(
            fingerprint({ port, perDialTimeout: 1, dialErrorLimit: 0 }),
            /no answer on port \d+ within 1 s/,
        );
        sockets.forEach((socket) => socket.destroy());
        silent.close();
    });

    it("are tried until the host answers, where the limit allows", async () => {
        const port = await freePort();
        const own = new SshPool();
        const connecting = own.endpoint(HOST, sshd.connection({ port, dialErrorLimit: -1 })).hostKeyFingerprint(soon());
        // The late server has its own authorized keys: being refused by it proves that it was reached.
        const refused = assert.rejects(connecting, /does not let root in/);
        const late = await TestSshd.start({ config: [`Port ${port}`, "ListenAddress 127.0.0.1"] });
        try {
            await refused;
        } finally {
            own.closeAll();
            late.stop();
        }
    });

    it("go through a bastion, each with its own host key", async () => {
        const bastion = await TestSshd.start();
        try {
            const proxy = { ...bastion.connection({ hostKey: bastion.hostKey("ed25519") }), host: HOST };
            assert.equal(
                await fingerprint({ proxy, hostKey: sshd.hostKey("ed25519") }),
                sshd.hostKeyFingerprint("ed25519"),
            );
            const wrong = { proxy, hostKey: bastion.hostKey("ed25519") };
            await assert.rejects(fingerprint(wrong), HostKeyError);
            const wrongProxy = { ...proxy, hostKey: sshd.hostKey("ed25519") };
            await assert.rejects(fingerprint({ proxy: wrongProxy }), HostKeyError);
        } finally {
            bastion.stop();
        }
    });

    it("are shared by all who use the same host and login", async () => {
        const link = await CuttableLink.to(sshd.port);
        const endpoint = pool.endpoint(HOST, sshd.connection({ port: link.port }));
        await Promise.all(Array.from({ length: 20 }, () => endpoint.hostKeyFingerprint(soon())));
        await pool.endpoint(HOST, sshd.connection({ port: link.port })).hostKeyFingerprint(soon());
        assert.equal(link.open, 1);
        endpoint.close();
        link.close();
    });

    it("stay with the machine that answered first, also after they ended", async () => {
        const other = await TestSshd.start();
        const link = await CuttableLink.to(sshd.port);
        try {
            const login = sshd.connection({ port: link.port, dialErrorLimit: -1 });
            const endpoint = pool.endpoint(HOST, login);
            await endpoint.hostKeyFingerprint(soon());
            endpoint.close();
            link.leadTo(other.port);
            await assert.rejects(endpoint.hostKeyFingerprint(soon()), (error: Error) => {
                assert.ok(error instanceof OtherMachineError && !error.retryable);
                assert.match(
                    error.message,
                    /another machine answers: when this operation began, the host key was ssh-ed25519/,
                );
                assert.match(error.message, new RegExp(escaped(sshd.hostKeyFingerprint("ed25519"))));
                return true;
            });
            link.leadTo(sshd.port);
            assert.equal(await endpoint.hostKeyFingerprint(soon()), sshd.hostKeyFingerprint("ed25519"));
        } finally {
            link.close();
            other.stop();
        }
    });

    it("stay on the address of a name that they reached first", async () => {
        const real = dns.lookup;
        let address = HOST;
        const several = (_name: string, _options: object, done: (error: null, found: object[]) => void): void =>
            process.nextTick(done, null, [{ address, family: 4 }]);
        Object.assign(dns, { lookup: several });
        const { endpoint, fresh } = { endpoint: newEndpoint(), fresh: newEndpoint() };
        try {
            await endpoint.hostKeyFingerprint(soon());
            // Nothing listens there.
            address = "127.0.0.9";
            endpoint.close();
            await endpoint.hostKeyFingerprint(soon());
            endpoint.close();
            await assert.rejects(fresh.hostKeyFingerprint(soon()), /connection refused/);
        } finally {
            Object.assign(dns, { lookup: real });
        }

        function newEndpoint(): SshEndpoint {
            return pool.endpoint("several.example.org", sshd.connection({ dialErrorLimit: 0 }));
        }
    });

    it("reject what waits for them when they break, and are made again", async () => {
        const link = await CuttableLink.to(sshd.port);
        const endpoint = pool.endpoint(HOST, sshd.connection({ port: link.port }));
        const aborted = new Promise<Error>((resolve) => {
            void endpoint.exec("sleep 60", soon(), resolve).then(() => link.cut());
        });
        const error = await aborted;
        assert.ok(error instanceof ConnectionError && error.retryable);
        const { exit, channel } = await endpoint.exec("true", soon(), () => undefined);
        channel.resume();
        assert.equal((await exit).code, 0);
        endpoint.close();
        link.close();
    });

    it("end a command at its deadline", async () => {
        const endpoint = pool.endpoint(HOST, sshd.connection());
        // Connected before, so that the time is the command's; a machine that is slow at opening a channel counts as well.
        await endpoint.hostKeyFingerprint(soon());
        const error = await new Promise<unknown>((resolve) => {
            endpoint.exec("sleep 60", Deadline.after(1000), resolve).catch(resolve);
        });
        assert.ok(error instanceof TimeoutError);
    });

    it("run many commands with eight channels, and with fewer where the server allows fewer", async () => {
        const narrow = await TestSshd.start({ config: ["MaxSessions 3"] });
        try {
            for (const server of [sshd, narrow]) {
                const endpoint = pool.endpoint(HOST, server.connection());
                const runs = Array.from({ length: 20 }, async (_, index) => {
                    const { channel, exit } = await endpoint.exec(`exit ${index}`, soon(), () => undefined);
                    channel.resume();
                    return (await exit).code;
                });
                assert.deepEqual(
                    await Promise.all(runs),
                    runs.map((_, index) => index),
                );
            }
        } finally {
            narrow.stop();
        }
    });

    it("run one command at a time where the server allows one session, and tell where it allows none", async () => {
        const single = await TestSshd.start({ config: ["MaxSessions 1"] });
        const none = await TestSshd.start({ config: ["MaxSessions 0"] });
        try {
            const endpoint = pool.endpoint(HOST, single.connection());
            const run = async (code: number): Promise<number | undefined> => {
                const { channel, exit } = await endpoint.exec(`exit ${code}`, soon(), () => undefined);
                channel.resume();
                return (await exit).code;
            };
            for (let code = 1; code <= 40; code += 1) assert.equal(await run(code), code);
            assert.deepEqual(await Promise.all([1, 2, 3, 4, 5, 6].map(run)), [1, 2, 3, 4, 5, 6]);
            const refused = pool.endpoint(HOST, none.connection()).exec("true", soon(), () => undefined);
            await assert.rejects(refused, (error: Error) => {
                assert.ok(error instanceof ConnectionError && !error.retryable);
                assert.match(error.message, /opens no session, though none of ours is open[^]*MaxSessions/);
                return true;
            });
        } finally {
            single.stop();
            none.stop();
        }
    });

    it("forward ports, and tell refused from forbidden", async () => {
        const strict = await TestSshd.start({ config: ["AllowTcpForwarding no"] });
        try {
            const stream = await pool.endpoint(HOST, sshd.connection()).forward(HOST, sshd.port, soon());
            const banner = await new Promise<Buffer>((resolve) => stream.once("data", resolve));
            assert.match(banner.toString(), /^SSH-2.0/);
            stream.destroy();
            const port = await freePort();
            await assert.rejects(
                pool.endpoint(HOST, sshd.connection()).forward(HOST, port, soon()),
                (error: Error) => error instanceof ConnectionError && error.refused && /refused/i.test(error.message),
            );
            await assert.rejects(
                pool.endpoint(HOST, strict.connection()).forward(HOST, sshd.port, soon()),
                (error: Error) =>
                    error instanceof ConnectionError &&
                    !error.retryable &&
                    !error.refused &&
                    /forbids/.test(error.message),
            );
        } finally {
            strict.stop();
        }
    });
});
