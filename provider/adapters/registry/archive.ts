import { createHash } from "node:crypto";
import { once } from "node:events";
import { posix } from "node:path";
import type { Readable, Writable } from "node:stream";

/** What was read of an archive, after all of it was read. */
export interface Extracted {
    readonly found: boolean;
    /** Of the archive as it came, `sha256:<hex>`. */
    readonly digest: string;
}

/**
 * Writes the first file of that name, in whatever folder, of a tar archive (gzip or plain) into a stream, which it does not
 * end. Fails when the archive cannot be read or is none, and when `into` is closed early.
 */
export async function extractFile(archive: Readable, name: string, into: Writable): Promise<Extracted> {
    const { Parser } = await import("tar");
    const hash = createHash("sha256");
    let found = false;
    const parser = new Parser({
        strict: true,
        onReadEntry: (entry) => {
            if (found || entry.type !== "File" || posix.basename(entry.path) !== name) {
                entry.resume();
                return;
            }
            found = true;
            entry.pipe(into, { end: false });
        },
    });
    const ended = new Promise<void>((resolve, reject) => {
        parser.once("end", resolve);
        parser.once("error", reject);
        into.once("close", () => reject(new Error("nobody reads it any more")));
    });
    ended.catch(() => undefined);
    for await (const chunk of archive) {
        hash.update(chunk as Buffer);
        if (!parser.write(chunk as Buffer)) await Promise.race([once(parser, "drain"), ended]);
    }
    parser.end();
    await ended;
    return { found, digest: `sha256:${hash.digest("hex")}` };
}
