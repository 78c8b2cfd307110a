import assert from "node:assert/strict";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { createServer, type Server as HttpsServer } from "node:https";
import { after, afterEach, before, describe, it } from "mocha";
import { openKube } from "../../../provider/adapters/kube/client";
import type { KubeCredentials } from "../../../provider/adapters/kube/credentials";
import { ApiError, ConnectionError, type MkeError } from "../../../provider/errors";
import type { Kube } from "../../../provider/adapters/kube";
import { loopbackHost } from "../../support/loopback-host";
import { TestCa } from "../../support/pki";
import { freePort } from "../../support/program";

describe("the connection to an API server", () => {
    let credentials: KubeCredentials;
    let server: HttpsServer;
    let silent: Server;
    /** Whose connections the server accepted. */
    let clientNames: string[] = [];
    /** `Date` of its answers; undefined: none. */
    let date: string | undefined;
    const opened: Kube[] = [];

    before(async () => {
        const ca = await TestCa.create();
        credentials = { ca: ca.cert, ...(await ca.issue("CN=kubernetes-admin")) };
        const serving = await ca.issue("CN=kubernetes", ["localhost"]);
        server = createServer({ ...serving, ca: ca.cert, requestCert: true, rejectUnauthorized: true });
        // No connection is closed, and made again, because this machine is slow.
        server.keepAliveTimeout = 0;
        server.on("secureConnection", (socket) => clientNames.push(String(socket.getPeerCertificate().subject.CN)));
        server.on("request", (_request, response) => {
            if (date === undefined) response.sendDate = false;
            else response.setHeader("date", date);
            response.end(JSON.stringify({ metadata: { uid: "the uid" } }));
        });
        silent = createTcpServer();
        for (const one of [server, silent]) await new Promise<void>((done) => one.listen(0, "127.0.0.1", done));
    });
    afterEach(() => {
        for (const kube of opened.splice(0)) kube.close();
        clientNames = [];
        date = undefined;
    });
    after(() => {
        server.closeAllConnections();
        server.close();
        silent.close();
    });

    const portOf = (one: Server | HttpsServer): number => (one.address() as AddressInfo).port;
    const open = (port: number, given = credentials, timeout = 60_000): Kube => {
        const kube = openKube(loopbackHost({ address: "c1" }), given, { server: { host: "127.0.0.1", port }, timeout });
        opened.push(kube);
        return kube;
    };

    it("presents the admin's certificate and checks the server's against the CA and the name localhost", async () => {
        assert.equal(await open(portOf(server)).clusterId(), "the uid");
        assert.deepEqual(clientNames, ["kubernetes-admin"]);
    });

    it("tells the server's time, which is not this machine's, and none where no answer named it", async () => {
        const kube = open(portOf(server));
        assert.throws(() => kube.now(), ApiError);
        await kube.clusterId();
        assert.throws(() => kube.now(), /no time in its answers/);
        const named = Date.parse("2031-02-03T04:05:06Z");
        date = new Date(named).toUTCString();
        const asked = performance.now();
        await kube.clusterId();
        const now = kube.now();
        assert.ok(now >= named && now <= named + performance.now() - asked, new Date(now).toISOString());
    });

    it("refuses a server of another CA and sends it nothing", async () => {
        const other = await TestCa.create();
        await assert.rejects(open(portOf(server), { ...credentials, ca: other.cert }).clusterId(), ConnectionError);
        assert.deepEqual(clientNames, []);
    });

    it("takes a refused connection for a passing failure and says where", async () => {
        const closed = await freePort();
        await assert.rejects(open(closed).clusterId(), (error: MkeError) => {
            assert.equal(error.retryable, true);
            assert.match(error.message, new RegExp(`on c1: GET /api/v1/namespaces/kube-system at 127.0.0.1:${closed}`));
            return true;
        });
    });

    it("gives up on a server that says nothing", async () => {
        await assert.rejects(open(portOf(silent), credentials, 50).clusterId(), /no answer within 0.05 s/);
    });

    it("hands through why the host could not connect", async () => {
        const reason = new ConnectionError({ stage: "connecting", what: "the SSH connection broke" });
        const host = loopbackHost({
            route: () => {
                throw reason;
            },
        });
        const kube = openKube(host, credentials, { server: { host: "127.0.0.1", port: 1 } });
        opened.push(kube);
        await assert.rejects(kube.clusterId(), (error) => error === reason);
    });

    it("answers many questions at once over few connections", async () => {
        const kube = open(portOf(server));
        await Promise.all(Array.from({ length: 20 }, () => kube.clusterId()));
        assert.ok(clientNames.length >= 1 && clientNames.length <= 4, `${clientNames.length} connections`);
    });
});
