import { createCipheriv, randomBytes, scrypt } from "node:crypto";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { promisify } from "node:util";

/** As `age` has it: a second of work and 256 MiB for each guess. */
const WORK_FACTOR = 18;
const LABEL = "age-encryption.org/v1/scrypt";
const BLOCK_SIZE = 8;

const deriveKey = promisify(
    (
        password: string,
        salt: Buffer,
        length: number,
        options: object,
        done: (error: Error | null, key: Buffer) => void,
    ) => scrypt(password, salt, length, options, done),
);

/**
 * The content, encrypted with a passphrase in the format of `age` (age-encryption.org/v1), chunk by chunk as it is read. Errors
 * of `content` come through as they are.
 */
export async function encryptWithPassphrase(content: Readable, passphrase: string): Promise<Readable> {
    // An ES module, which CommonJS can only load like this.
    const { Encrypter, Stanza } = await import("age-encryption");
    const encrypter = new Encrypter();
    // The library's own way to a key is JavaScript and holds up everything else in this process for seconds.
    const { salt, key } = await keyFrom(passphrase);
    encrypter.addRecipient({
        wrapFileKey: (fileKey) => [
            new Stanza(["scrypt", unpadded(salt), String(WORK_FACTOR)], new Uint8Array(seal(key, fileKey))),
        ],
    });
    // A stream that failed meanwhile would be taken for an empty one.
    if (content.destroyed) throw content.errored ?? new Error("the content ended early");
    const encrypted = await encrypter.encrypt(Readable.toWeb(content) as globalThis.ReadableStream<Uint8Array>);
    return Readable.fromWeb(encrypted as ReadableStream);
}

/** C2SP age.md, "scrypt recipient stanza". */
async function keyFrom(passphrase: string): Promise<{ readonly salt: Buffer; readonly key: Buffer }> {
    const salt = randomBytes(16);
    const N = 2 ** WORK_FACTOR;
    const options = { N, r: BLOCK_SIZE, p: 1, maxmem: 2 * 128 * N * BLOCK_SIZE };
    return { salt, key: await deriveKey(passphrase, Buffer.concat([Buffer.from(LABEL), salt]), 32, options) };
}

/** The key seals this one file key, so that its nonce is zero. */
function seal(key: Buffer, fileKey: Uint8Array): Buffer {
    const cipher = createCipheriv("chacha20-poly1305", key, Buffer.alloc(12), { authTagLength: 16 });
    return Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
}

function unpadded(bytes: Buffer): string {
    return bytes.toString("base64").replace(/=+$/, "");
}
