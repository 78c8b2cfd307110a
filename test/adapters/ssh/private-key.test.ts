import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { describe, it } from "mocha";
import { utils } from "ssh2";
import { credentialsFor, KEY_VARIABLE, PASSPHRASE_VARIABLE } from "../../../provider/adapters/ssh/credentials";
import { readPrivateKey } from "../../../provider/adapters/ssh/private-key";
import { check } from "../../../provider/resource/check";
import { failuresOf, PROGRAM } from "../../support/node-bags";
import { newSshKey } from "../../support/ssh-key";

const LOGIN = { user: "root", port: 22, dialErrorLimit: 0, perDialTimeout: 15 };

const pkcs8 = (key: KeyObject, passphrase?: string): string =>
    key
        .export({
            type: "pkcs8",
            format: "pem",
            ...(passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase }),
        } as never)
        .toString();

/** A pair of each type, and the digest of its signatures. */
const PAIRS = {
    rsa: { ...generateKeyPairSync("rsa", { modulusLength: 2048 }), digest: "sha512" },
    ed25519: { ...generateKeyPairSync("ed25519"), digest: undefined },
    ...Object.fromEntries(
        (["P-256", "P-384", "P-521"] as const).map((namedCurve, index) => [
            namedCurve,
            { ...generateKeyPairSync("ec", { namedCurve }), digest: ["sha256", "sha384", "sha512"][index] },
        ]),
    ),
} as const;

const PUTTY = (version: number, type = "ssh-ed25519", encryption = "none"): string =>
    [
        `PuTTY-User-Key-File-${version}: ${type}`,
        `Encryption: ${encryption}`,
        ...["Comment: me", "Public-Lines: 1", "AAAA", "Private-Lines: 1", "c2VjcmV0", "Private-MAC: 00"],
    ].join("\n");

const reasonFor = (connection: Record<string, string>): string | undefined =>
    failuresOf({ connection })["connection.privateKey"];

describe("a private key in PKCS#8", () => {
    for (const [type, { privateKey, publicKey, digest }] of Object.entries(PAIRS)) {
        for (const passphrase of [undefined, "open sesame"]) {
            it(`of ${type}${passphrase === undefined ? "" : ", encrypted,"} signs as what it is`, () => {
                const read = readPrivateKey(pkcs8(privateKey, passphrase), passphrase);
                assert.ok("text" in read, JSON.stringify(read));
                assert.equal(read.passphrase, undefined);
                const key = utils.parseKey(read.text);
                assert.ok(!(key instanceof Error));
                const data = Buffer.from("to be signed");
                const signature = key.sign(data, digest);
                assert.ok(verify(digest, data, { key: publicKey, dsaEncoding: "der" }, signature));
            });
        }
    }

    it("is given to ssh2 in a form that it knows, from an input and from the environment", () => {
        const text = pkcs8(PAIRS.ed25519.privateKey, "p");
        const { config } = credentialsFor({ ...LOGIN, privateKey: text, privateKeyPassword: "p" }, "h", {});
        assert.ok(!(utils.parseKey(config.privateKey as string, config.passphrase) instanceof Error));
        assert.equal(config.passphrase, undefined);
        const environment = { [KEY_VARIABLE]: text, [PASSPHRASE_VARIABLE]: "p" };
        const [way] = credentialsFor(LOGIN, "h", environment).config.authHandler as unknown as { key: string }[];
        assert.ok(!(utils.parseKey(way?.key ?? "") instanceof Error));
    });
});

describe("a private key that cannot be used", () => {
    const openssh = newSshKey();
    const damaged = openssh.replace(/\n[A-Za-z0-9+/]{20}/, "\nAAAAAAAAAAAAAAAAAAAA");
    const ed448 = generateKeyPairSync("ed448").privateKey;

    const CASES: readonly (readonly [string, Record<string, string>, RegExp])[] = [
        [
            "PuTTY's of version 3",
            { privateKey: PUTTY(3) },
            /^is a PuTTY key of version 3, .*puttygen key\.ppk -O private-openssh/,
        ],
        [
            "PuTTY's with a type that ssh2 does not read",
            { privateKey: PUTTY(2) },
            /^is a PuTTY key of a kind that is not supported/,
        ],
        [
            "PuTTY's that is encrypted",
            { privateKey: PUTTY(2, "ssh-rsa", "aes256-cbc") },
            /^is encrypted: give privateKeyPassword/,
        ],
        [
            "one with \\n in place of line breaks",
            { privateKey: openssh.replaceAll("\n", "\\n") },
            /^has \\n written out .*replace/,
        ],
        [
            "one with \\r\\n in place of them",
            { privateKey: openssh.replaceAll("\n", "\\r\\n") },
            /^has \\n written out/,
        ],
        ["one that is indented", { privateKey: openssh.replaceAll("\n", "\n    ") }, /^has indented lines/],
        ["a damaged one", { privateKey: damaged }, /^cannot be read: it is damaged/],
        [
            "one with another passphrase",
            { privateKey: pkcs8(PAIRS.rsa.privateKey, "right"), privateKeyPassword: "wrong" },
            /^cannot be read: its passphrase is another one/,
        ],
        [
            "one of a type that SSH does not use",
            { privateKey: pkcs8(ed448) },
            /^is a key of type ed448, which SSH does not use/,
        ],
    ];

    for (const [what, connection, reason] of CASES) {
        it(`is refused in check with the true reason: ${what}`, () => {
            assert.match(reasonFor(connection) ?? "", reason);
            const { privateKey = "", privateKeyPassword } = connection;
            assert.throws(
                () =>
                    credentialsFor(
                        { ...LOGIN, privateKey, ...(privateKeyPassword && { privateKeyPassword }) },
                        "h",
                        {},
                    ),
                /reading connection\.privateKey on h: the key /,
            );
        });
    }

    it("is told once, however many controllers have a copy of it", () => {
        const controllers = [{ host: "10.0.0.1" }, { host: "10.0.0.2" }];
        const news = { ...PROGRAM, connection: { privateKey: damaged }, cluster: { controllers } };
        const found = check("controller", news).failures;
        assert.deepEqual(
            found.map(({ property }) => property),
            ["connection.privateKey"],
        );
        assert.ok(!JSON.stringify(found).includes("AAAAAAAA"));
    });
});
