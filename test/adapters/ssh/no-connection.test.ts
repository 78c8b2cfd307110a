import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server as TcpServer, type Socket } from "node:net";
import { afterEach, describe, it } from "mocha";
import { Server } from "ssh2";
import { SshPool } from "../../../provider/adapters/ssh/endpoint";
import { Deadline } from "../../../provider/deadline";
import { ConnectionError } from "../../../provider/errors";
import { freePort } from "../../support/program";
import { newSshKey } from "../../support/ssh-key";

const HOST = "127.0.0.1";

describe("a host that no SSH connection can be made to", () => {
    const pool = new SshPool();
    let close = (): unknown => undefined;

    afterEach(() => {
        pool.closeAll();
        close();
    });

    const login = (port: number, dialErrorLimit = 10, perDialTimeout = 0) => ({
        ...{ user: "root", port, dialErrorLimit, perDialTimeout, privateKey: newSshKey() },
    });

    async function failureOf(action: Promise<unknown>): Promise<ConnectionError> {
        try {
            await action;
        } catch (error) {
            assert.ok(error instanceof ConnectionError, String(error));
            return error;
        }
        throw new Error("it was connected");
    }

    async function listening(server: TcpServer | Server): Promise<number> {
        server.listen(0, HOST);
        await once(server, "listening");
        close = () => server.close();
        return (server.address() as AddressInfo).port;
    }

    for (const [what, algorithms, found, setting] of [
        ["key exchange", { kex: ["diffie-hellman-group1-sha1"] }, "diffie-hellman-group1-sha1", "KexAlgorithms"],
        ["cipher", { cipher: ["3des-cbc"] }, "3des-cbc", "Ciphers"],
        ["MAC", { hmac: ["hmac-md5"], cipher: ["aes256-ctr"] }, "hmac-md5", "MACs"],
    ] as const) {
        it(`because they have no ${what} in common is told once, with what both sides offer`, async () => {
            let connections = 0;
            const port = await listening(
                new Server({ hostKeys: [newSshKey()], algorithms: algorithms as never }, (client) => {
                    client.on("error", () => undefined);
                }).on("connection", () => (connections += 1)),
            );
            const dialled = pool.endpoint(HOST, login(port)).hostKeyFingerprint(Deadline.afterSeconds(60));
            const error = await failureOf(dialled);
            assert.equal(error.retryable, false);
            assert.match(
                error.message,
                new RegExp(`no matching ${what}: the host offers ${found}; supported here are [a-z0-9]`),
            );
            assert.match(error.message, new RegExp(`sshd -T \\| grep -i ${setting}`));
            assert.ok(!/kex-strict|ext-info/.test(error.message));
            assert.equal(connections, 1);
        });
    }

    it("in time is told with its limit's name, what was found last, and what to do", async () => {
        const silent: Socket[] = [];
        const port = await listening(createServer((socket) => silent.push(socket)));
        const endpoint = pool.endpoint(HOST, login(port, -1));
        const first = endpoint.hostKeyFingerprint(Deadline.after(60_000));
        first.catch(() => undefined);
        // It waits for the dialling of the one before.
        const error = await failureOf(endpoint.hostKeyFingerprint(Deadline.after(1, "timeouts.connect")));
        const [said, advice = ""] = error.message.split("\n");
        assert.equal(
            said,
            `connecting on ${HOST}: no connection to port ${port} in the time allowed (timeouts.connect): no answer yet`,
        );
        assert.match(advice, /Is the host up, is sshd running.*`connection\.port`.*raise `timeouts\.connect`/);
        silent.forEach((socket) => socket.destroy());
    });

    it("is told with the last failure of the attempts", async () => {
        const port = await freePort();
        const endpoint = pool.endpoint(HOST, login(port, 3));
        let second: Promise<unknown> | undefined;
        const long = endpoint.hostKeyFingerprint(
            Deadline.after(60_000).heardBy(() => {
                second ??= endpoint.hostKeyFingerprint(Deadline.after(1));
                second.catch(() => undefined);
            }),
        );
        await failureOf(long);
        const error = await failureOf(second ?? Promise.reject(new Error("no failure was told")));
        assert.match(
            error.message,
            /in the time allowed: connecting on 127\.0\.0\.1: connection refused on port \d+\n/,
        );
    });

    it("after the attempts that the program allows is told with the input's name", async () => {
        const port = await freePort();
        const error = await failureOf(
            pool.endpoint(HOST, login(port, 1)).hostKeyFingerprint(Deadline.afterSeconds(60)),
        );
        assert.match(
            error.message,
            /connection refused on port \d+ \(after 2 attempts\)\n.*raise `connection\.dialErrorLimit`/,
        );
    });
});
