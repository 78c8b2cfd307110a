import { createHash, createPrivateKey, type KeyObject } from "node:crypto";
import { utils } from "ssh2";
import { messageOf } from "../../errors";
import { misspelling } from "../../key-spelling";

/** A key as ssh2 takes it, or why it cannot be used, in words that hold nothing of it. */
export type ReadKey =
    { readonly text: string; readonly passphrase: string | undefined } | { readonly unusable: string };

const CONVERT = "save it as an OpenSSH key: `puttygen key.ppk -O private-openssh -o key`";

/**
 * Reads the text of a private key: OpenSSH, PEM (PKCS#1, SEC 1, PKCS#8) or PuTTY's of version 2. ssh2 1.17 knows no PKCS#8: such
 * a key is rewritten for it, without its passphrase.
 */
export function readPrivateKey(text: string, passphrase: string | undefined): ReadKey {
    const misspelled = misspelling(text);
    if (misspelled !== undefined) return { unusable: misspelled };
    if (PKCS8.test(text)) return readPkcs8(text, passphrase);
    const unusable = whatSsh2Says(text, passphrase);
    return unusable === undefined ? { text, passphrase } : { unusable };
}

const known = new Map<string, string | undefined>();

/** The same question for `check`, which asks for each of many controllers: opening an encrypted key takes a while. */
export function whyUnusable(text: string, passphrase: string | undefined): string | undefined {
    const digest = createHash("sha256")
        .update(JSON.stringify([text, passphrase]))
        .digest("hex");
    if (!known.has(digest)) {
        const read = readPrivateKey(text, passphrase);
        known.set(digest, "unusable" in read ? read.unusable : undefined);
    }
    return known.get(digest);
}

const PKCS8 = /-----BEGIN (ENCRYPTED )?PRIVATE KEY-----/;

function readPkcs8(key: string, passphrase: string | undefined): ReadKey {
    let opened: KeyObject;
    try {
        opened = createPrivateKey({ key: key.trim(), ...(passphrase === undefined ? {} : { passphrase }) });
    } catch {
        return { unusable: damaged(passphrase) };
    }
    const text = rewritten(opened);
    if (text === undefined) return { unusable: `is a key of type ${opened.asymmetricKeyType}, which SSH does not use` };
    const unusable = whatSsh2Says(text, undefined);
    return unusable === undefined ? { text, passphrase: undefined } : { unusable };
}

function rewritten(key: KeyObject): string | undefined {
    switch (key.asymmetricKeyType) {
        case "rsa":
            return key.export({ type: "pkcs1", format: "pem" }).toString();
        case "ec":
            return key.export({ type: "sec1", format: "pem" }).toString();
        case "ed25519":
            return opensshEd25519(key);
        default:
            return undefined;
    }
}

/** Without encryption (openssh/PROTOCOL.key); the two equal numbers prove that it was opened. */
function opensshEd25519(key: KeyObject): string {
    const { x = "", d = "" } = key.export({ format: "jwk" });
    const type = Buffer.from("ssh-ed25519");
    const publicKey = Buffer.from(x, "base64url");
    const secret = Buffer.concat([Buffer.from(d, "base64url"), publicKey]);
    const opened = Buffer.concat([Buffer.alloc(8), field(type), field(publicKey), field(secret), field()]);
    const padding = Buffer.from(Array.from({ length: (8 - (opened.length % 8)) % 8 }, (_, index) => index + 1));
    const none = field(Buffer.from("none"));
    const one = Buffer.from([0, 0, 0, 1]);
    const body = Buffer.concat([
        Buffer.from("openssh-key-v1\0"),
        ...[none, none, field(), one],
        field(Buffer.concat([field(type), field(publicKey)])),
        field(Buffer.concat([opened, padding])),
    ]);
    const lines = body.toString("base64").match(/.{1,70}/g) ?? [];
    return ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join("\n");
}

/** In SSH's wire form: its length in four bytes, then the content. */
function field(content: Buffer = Buffer.alloc(0)): Buffer {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([length, content]);
}

function whatSsh2Says(text: string, passphrase: string | undefined): string | undefined {
    const putty = /^\s*PuTTY-User-Key-File-(\d+)/.exec(text)?.[1];
    if (putty !== undefined && putty !== "2")
        return `is a PuTTY key of version ${putty}, which is not supported; ${CONVERT}`;
    const said = parse(text, passphrase);
    if (said === undefined) return undefined;
    if (putty !== undefined) return `is a PuTTY key of a kind that is not supported; ${CONVERT}`;
    // A damaged key has anything in the place of a name.
    const what = /^Unsupported (?<what>.* OpenSSH key|OpenSSH private key type): (?<name>[a-z0-9@.-]{1,40})$/.exec(
        said,
    )?.groups;
    return what === undefined ? damaged(passphrase) : `is not supported: ${what["what"]} ${what["name"]}`;
}

/** ssh2's words, which name kinds of keys and nothing of this one; undefined: it can be read. */
function parse(text: string, passphrase: string | undefined): string | undefined {
    try {
        const parsed = utils.parseKey(text, passphrase);
        if (parsed instanceof Error) return parsed.message;
        return parsed.isPrivateKey() ? undefined : "no private key";
    } catch (error) {
        return messageOf(error);
    }
}

function damaged(passphrase: string | undefined): string {
    return passphrase === undefined
        ? "cannot be read: it is damaged, or not complete"
        : "cannot be read: its passphrase is another one, or it is damaged";
}
