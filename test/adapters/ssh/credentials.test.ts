import assert from "node:assert/strict";
import { describe, it } from "mocha";
import {
    credentialsFor,
    KEY_VARIABLE,
    type Login,
    PASSPHRASE_VARIABLE,
} from "../../../provider/adapters/ssh/credentials";
import { InputError } from "../../../provider/errors";
import { newSshKey } from "../../support/ssh-key";

const HOST = "10.0.0.1";
const LOGIN: Login = { user: "root", port: 22, dialErrorLimit: 0, perDialTimeout: 15 };
const [KEY, OTHER_KEY] = [newSshKey(), newSshKey()] as const;
const AGENT = "/run/agent";

/** What is given, what the environment holds, and what is tried in that order. */
const CASES: readonly (readonly [Partial<Login>, NodeJS.ProcessEnv, readonly string[]])[] = [
    [{ privateKey: KEY }, {}, ["private key"]],
    [{ privateKey: KEY }, { SSH_AUTH_SOCK: AGENT }, ["private key", "SSH agent"]],
    [{ privateKey: KEY, agentSocketPath: "/a" }, { SSH_AUTH_SOCK: AGENT }, ["private key", "SSH agent"]],
    [{ password: "p" }, { SSH_AUTH_SOCK: AGENT }, ["password", "SSH agent"]],
    [{ password: "p", agentSocketPath: "/a" }, {}, ["SSH agent", "password"]],
    [{}, { SSH_AUTH_SOCK: AGENT }, ["SSH agent"]],
    [{}, { [KEY_VARIABLE]: KEY }, [`key in ${KEY_VARIABLE}`]],
    [
        { privateKey: KEY, password: "p" },
        { [KEY_VARIABLE]: OTHER_KEY, SSH_AUTH_SOCK: AGENT },
        ["private key", `key in ${KEY_VARIABLE}`, "password", "SSH agent"],
    ],
    [{ privateKey: KEY }, { [KEY_VARIABLE]: "", SSH_AUTH_SOCK: "" }, ["private key"]],
];

describe("ways to log in", () => {
    for (const [given, environment, ways] of CASES) {
        const names = [...Object.keys(given), ...Object.keys(environment)].join(", ");
        it(`are tried in this order for ${names}: ${ways.join(", ")}`, () => {
            assert.deepEqual(credentialsFor({ ...LOGIN, ...given }, HOST, environment).ways, ways);
        });
    }

    it("are an error where there are none, which names all of them", () => {
        assert.throws(() => credentialsFor(LOGIN, HOST, {}), /privateKey.*SSH_AUTH_SOCK or PULUMI_MKE_PRIVATE_KEY/s);
    });

    it("are an error where the variable holds no key, which does not repeat it", () => {
        const environment = { [KEY_VARIABLE]: "/home/me/.ssh/id_ed25519", [PASSPHRASE_VARIABLE]: "open sesame" };
        assert.throws(
            () => credentialsFor({ ...LOGIN, privateKey: KEY }, HOST, environment),
            (error: Error) => {
                assert.ok(error instanceof InputError);
                assert.match(error.message, /reading PULUMI_MKE_PRIVATE_KEY on 10\.0\.0\.1/);
                assert.ok(!/id_ed25519|sesame/.test(error.message));
                return true;
            },
        );
    });
});
