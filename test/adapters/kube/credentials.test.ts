import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { parseAdminConf, readKubeCredentials } from "../../../provider/adapters/kube/credentials";
import { Deadline } from "../../../provider/deadline";
import { ConnectionError } from "../../../provider/errors";
import { loopbackHost } from "../../support/loopback-host";

const encode = (text: string): string => Buffer.from(text).toString("base64");
const ADMIN_CONF = `
clusters:
- {name: local, cluster: {server: "https://localhost:6443", certificate-authority-data: ${encode("the CA")}}}
users:
- {name: user, user: {client-certificate-data: ${encode("the cert")}, client-key-data: ${encode("the key")}}}
`;

describe("the admin's credentials of a controller", () => {
    it("come from admin.conf in the data directory", async () => {
        const host = loopbackHost({ files: { "/data/pki/admin.conf": ADMIN_CONF } });
        assert.deepEqual(await readKubeCredentials(host, "/data", Deadline.afterSeconds(60)), {
            ca: "the CA",
            cert: "the cert",
            key: "the key",
            server: { host: "localhost", port: 6443 },
        });
    });

    it("may be there later when the file is missing", async () => {
        const reading = readKubeCredentials(loopbackHost({}), "/data", Deadline.afterSeconds(60));
        await assert.rejects(reading, (error: ConnectionError) => {
            assert.ok(error instanceof ConnectionError && error.retryable);
            assert.match(error.message, /\/data\/pki\/admin\.conf does not exist/);
            return true;
        });
    });

    it("are never quoted in an error", async () => {
        const host = loopbackHost({ files: { "/data/pki/admin.conf": 'users: [ "SECRET' } });
        await assert.rejects(readKubeCredentials(host, "/data", Deadline.afterSeconds(60)), (error: Error) => {
            assert.doesNotMatch(`${error.message}${String(error.cause)}`, /SECRET/);
            return true;
        });
    });

    it("are not found in a kubeconfig that refers to files", () => {
        assert.equal(parseAdminConf("users: [{user: {client-certificate: /x}}]"), undefined);
    });
});
