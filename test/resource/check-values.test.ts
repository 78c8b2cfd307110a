import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { utils } from "ssh2";
import { check } from "../../provider/resource/check";
import { diff } from "../../provider/resource/diff";
import { type Bag, UNKNOWN } from "../../provider/resource/shape";
import { checked, failuresOf, PROGRAM, stored } from "../support/node-bags";

const PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGVtcHR5ZW1wdHllbXB0eWVtcHR5ZW1wdHllbXB0eWVt";

describe("check of private keys", () => {
    const reasonFor = (connection: Bag): string | undefined => failuresOf({ connection })["connection.privateKey"];
    const pem = (passphrase?: string): string =>
        generateKeyPairSync("rsa", {
            modulusLength: 2048,
            publicKeyEncoding: { type: "spki", format: "pem" },
            privateKeyEncoding:
                passphrase === undefined
                    ? { type: "pkcs8", format: "pem" }
                    : { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase },
        }).privateKey;
    const openssh = (passphrase?: string): string =>
        utils.generateKeyPairSync(
            "ed25519",
            passphrase === undefined ? {} : { passphrase, cipher: "aes256-cbc", rounds: 4 },
        ).private;

    it("accepts PEM and OpenSSH keys, encrypted ones with their passphrase", () => {
        for (const privateKey of [pem(), openssh()]) assert.equal(reasonFor({ privateKey }), undefined);
        for (const privateKey of [pem("p"), openssh("p")]) {
            assert.equal(reasonFor({ privateKey, privateKeyPassword: "p" }), undefined);
        }
    });

    it("asks for the passphrase of an encrypted key", () => {
        for (const privateKey of [pem("p"), openssh("p")])
            assert.match(reasonFor({ privateKey }) ?? "", /is encrypted/);
    });

    it("says what was given instead of a key", () => {
        assert.match(reasonFor({ privateKey: PUBLIC_KEY }) ?? "", /public key/);
        assert.match(reasonFor({ privateKey: "~/.ssh/id_ed25519" }) ?? "", /path/);
        assert.match(reasonFor({ privateKey: openssh().slice(0, 200) }) ?? "", /end is missing/);
        assert.match(reasonFor({ privateKey: "" }) ?? "", /empty/);
    });

    it("misses the key that a passphrase belongs to", () => {
        assert.deepEqual(Object.keys(failuresOf({ connection: { privateKeyPassword: "p" } })), [
            "connection.privateKeyPassword",
        ]);
    });
});

describe("check of values that are not known yet", () => {
    it("leaves them untouched at any depth", () => {
        const given = {
            host: UNKNOWN,
            connection: { privateKey: UNKNOWN, proxy: UNKNOWN, port: UNKNOWN },
            cluster: { controllers: [{ host: UNKNOWN }, UNKNOWN], minControllers: UNKNOWN },
            labels: { zone: UNKNOWN },
            installFlags: [UNKNOWN],
            triggers: [{ a: [UNKNOWN] }],
            k0sConfig: { spec: { api: { sans: [UNKNOWN] } } },
            role: UNKNOWN,
            drain: UNKNOWN,
        };
        const { inputs, failures } = check("controller", { ...PROGRAM, ...given });
        assert.deepEqual(failures, []);
        const defaults = { user: "root", port: 22, dialErrorLimit: 10, perDialTimeout: 15 };
        assert.deepEqual(inputs["connection"], { ...defaults, ...given.connection });
        assert.deepEqual((inputs["cluster"] as Bag)["controllers"], [{ host: UNKNOWN, connection: defaults }, UNKNOWN]);
        for (const name of ["host", "labels", "installFlags", "triggers", "k0sConfig", "role", "drain"] as const) {
            assert.deepEqual(inputs[name], given[name]);
        }
    });

    it("accepts any top-level input that is not known", () => {
        for (const name of Object.keys(checked())) assert.deepEqual(failuresOf({ [name]: UNKNOWN }), {});
    });
});

describe("check of values of any kind", () => {
    it("answers them as they come back from state, in which they would change for ever otherwise", () => {
        const triggers = [-0, { kept: 1, dropped: undefined }, [null, "a"]];
        const inputs = checked({ triggers });
        assert.deepEqual(inputs["triggers"], [0, { kept: 1 }, [null, "a"]]);
        assert.equal(diff(stored(inputs), inputs).changes, false);
    });

    it("refuses numbers that state cannot keep, at any depth", () => {
        for (const odd of [NaN, -Infinity]) {
            assert.match(failuresOf({ triggers: [{ a: [odd] }] })["triggers[0]"] ?? "", /numbers that are finite/);
            assert.match(
                failuresOf({ k0sConfig: { spec: { a: odd } } })['k0sConfig["spec"]'] ?? "",
                /numbers that are finite/,
            );
        }
    });
});

describe("check never", () => {
    const SECRET = "s3cr3t-hunter2";

    it("repeats what may be a secret", () => {
        const login = {
            privateKey: SECRET,
            privateKeyPassword: 5,
            password: [SECRET],
            sudoPassword: { a: SECRET },
            hostKey: SECRET,
        };
        const { failures } = check("controller", {
            ...PROGRAM,
            host: `root:${SECRET}@10.0.0.1`,
            connection: { ...login, user: `root:${SECRET} x`, pasword: SECRET, proxy: { host: "b", ...login } },
            cluster: { controllers: [{ host: "a", connection: login }] },
            installFlags: [`--token-file=${SECRET}`, `--force=${SECRET}`, SECRET],
            k0s: { downloadUrl: `ftp://u:${SECRET}@a/` },
            k0sConfig: SECRET,
            labels: { a: `${SECRET} ${SECRET}` },
            triggers: SECRET,
        });
        assert.ok(failures.length > 15);
        assert.doesNotMatch(JSON.stringify(failures), /hunter2/);
    });

    it("throws, whatever it is given", () => {
        const values = [
            null,
            0,
            -1,
            NaN,
            "",
            "\0",
            "a".repeat(100_000),
            true,
            [],
            [[]],
            {},
            { a: { b: null } },
            [null],
            [{}],
        ];
        for (const name of [...Object.keys(checked()), "k0sConfig", "nodeName", "privateAddress", "kubeletRootDir"]) {
            for (const value of values) {
                const { inputs, failures } = check("controller", { ...PROGRAM, [name]: value });
                assert.ok(Array.isArray(failures));
                assert.doesNotThrow(() => JSON.stringify(inputs));
            }
        }
    });
});
