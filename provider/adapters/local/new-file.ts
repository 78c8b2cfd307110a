import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, rm, stat, statfs } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { InputError, messageOf, MkeError } from "../../errors";

const PARTIAL = /^\.pulumi-mke-[0-9a-f]{16}\.partial$/;
/** Whoever writes one touches it all the time; one that lay still for so long has nobody any more. Milliseconds. */
const ABANDONED = 60 * 60 * 1000;

/** A directory on the machine that runs Pulumi, into which whole new files are put. `setting`: the input that names it. */
export class LocalDirectory {
    readonly path: string;

    constructor(
        path: string,
        private readonly setting: string,
        private readonly stage: string,
    ) {
        this.path = resolve(path);
    }

    /** Makes it (0700) where it is missing, and removes what killed processes left. */
    async prepare(): Promise<void> {
        try {
            await mkdir(this.path, { recursive: true, mode: 0o700 });
            const partial = (await readdir(this.path)).filter((name) => PARTIAL.test(name));
            await Promise.all(partial.map((name) => removeAbandoned(join(this.path, name))));
        } catch (error) {
            throw this.cannotWrite(error);
        }
    }

    async requireSpace(bytes: number): Promise<void> {
        const { bavail, bsize } = await statfs(this.path);
        if (bavail * bsize >= bytes) return;
        throw this.cannotWrite(new Error(`${mib(bavail * bsize)} MiB are free, ${mib(bytes)} are needed`));
    }

    /**
     * Writes a new file (0600): under a temporary name, then, whole and on the disk, under its own. Fails where a file of that
     * name exists, and leaves nothing behind when it fails. Errors of `content` come through as they are.
     */
    async put(name: string, content: Readable): Promise<string> {
        const final = join(this.path, name);
        const temporary = join(this.path, `.pulumi-mke-${randomBytes(8).toString("hex")}.partial`);
        try {
            // It may fail before anybody reads; and a file that is still being opened could outlive its removal below.
            content.on("error", () => undefined);
            const file = await open(temporary, "wx", 0o600);
            if (content.errored !== null) {
                await file.close();
                throw content.errored;
            }
            await pipeline(content, file.createWriteStream());
            await flush(temporary);
            await link(temporary, final);
            return final;
        } catch (error) {
            throw error instanceof MkeError ? error : this.cannotWrite(error);
        } finally {
            await rm(temporary, { force: true });
        }
    }

    private cannotWrite(cause: unknown): InputError {
        return new InputError({
            stage: this.stage,
            what: `cannot write into ${this.setting} ${this.path}: ${messageOf(cause)}`,
            cause,
        });
    }
}

async function removeAbandoned(path: string): Promise<void> {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > ABANDONED) await rm(path, { force: true });
}

async function flush(path: string): Promise<void> {
    const file = await open(path, "r+");
    await file.sync().finally(() => file.close());
}

function mib(bytes: number): number {
    return Math.ceil(bytes / 1024 / 1024);
}
