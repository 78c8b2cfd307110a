import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

/**
 * The content, encrypted with a passphrase in the format of `age` (age-encryption.org/v1), chunk by chunk as it is read. Its
 * key is made first, which takes a second or two. Errors of `content` come through as they are.
 */
export async function encryptWithPassphrase(content: Readable, passphrase: string): Promise<Readable> {
    // An ES module, which CommonJS can only load like this.
    const { Encrypter } = await import("age-encryption");
    // A stream that failed meanwhile would be taken for an empty one.
    if (content.destroyed) throw content.errored ?? new Error("the content ended early");
    const encrypter = new Encrypter();
    encrypter.setPassphrase(passphrase);
    const encrypted = await encrypter.encrypt(Readable.toWeb(content) as globalThis.ReadableStream<Uint8Array>);
    return Readable.fromWeb(encrypted as ReadableStream);
}
