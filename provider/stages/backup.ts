import { createHash, type Hash } from "node:crypto";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { BackupArchive } from "../adapters/host";
import { encryptWithPassphrase } from "../adapters/local/age";
import { LocalDirectory } from "../adapters/local/new-file";
import { urlHost } from "../address";
import type { Deadline } from "../deadline";
import { ConnectionError } from "../errors";
import type { BackupInputs } from "../inputs";
import type { Operation } from "./operation";
import type { Outcome } from "./stage";
import { referredFiles } from "./referred-files";

const STAGE = "backing up";

/** On a controller; outside everything that `k0s reset` and our own clean-up remove. */
export const BACKUP_DIRECTORY = "/var/lib/pulumi-mke/backups";
/** How many archives stay there (safety.md 23). */
const BACKUPS_KEPT = 5;

/** Which of an operation's two backups it is. */
export interface BackupMoment {
    readonly when: "before" | "after";
    readonly change: "add" | "remove";
}

/** A backup that stays on the helper: `<time>-<node>-<before|after>-<add|remove>.tar.gz`, the helper's time. */
export async function backUpOnHelper(operation: Operation, moment: BackupMoment, deadline: Deadline): Promise<Outcome> {
    const { path, size } = await makeArchive(operation, moment, BACKUPS_KEPT, deadline);
    return `${urlHost(operation.cluster.helper.address)}:${path} (${mib(size)})`;
}

/**
 * A backup streamed to this machine, encrypted unless the program says otherwise; the helper keeps no copy. Its name is that
 * of spec/002 with time and node: `<time>-<node>-<add|remove>.tar.gz.age`, the second one with `post_` in front.
 */
export async function backUpToDirectory(
    operation: Operation,
    moment: BackupMoment,
    directory: string,
    deadline: Deadline,
): Promise<Outcome> {
    const { inputs, cluster, nodeName } = operation;
    const local = new LocalDirectory(directory, "backup.directory", STAGE);
    await local.prepare();
    const archive = await makeArchive(operation, moment, 0, deadline);
    try {
        await local.requireSpace(archive.size);
        const { content } = await cluster.helper.openFile(archive.path, deadline);
        const proven = new Proof(archive, cluster.helper.address);
        // Both may fail before anybody reads, who then finds them failed.
        proven.on("error", () => undefined);
        pipeline(content, proven).catch(() => undefined);
        const name = localName(moment, nodeName, inputs.backup, new Date());
        const { passphrase } = inputs.backup;
        const path = await local.put(
            name,
            passphrase === undefined ? proven : await encryptWithPassphrase(proven, passphrase),
        );
        return `${path} (${mib(archive.size)})`;
    } finally {
        // The next backup removes it too, so that a broken connection leaves nothing for good.
        await cluster.helper.removeFiles([archive.path], deadline).catch(() => undefined);
    }
}

async function makeArchive(
    { cluster, log, nodeName }: Operation,
    { when, change }: BackupMoment,
    keep: number,
    deadline: Deadline,
): Promise<BackupArchive> {
    const { helper, helperFacts, config } = cluster;
    const archive = await helper.backUp(
        {
            k0sPath: helperFacts.k0sPath,
            dataDir: helperFacts.dataDir,
            directory: BACKUP_DIRECTORY,
            name: `${nodeName}-${when}-${change}`,
            keep,
            files: await referredFiles(helper, config, helperFacts.dataDir, deadline),
        },
        deadline,
    );
    for (const path of archive.without)
        log.line(`the backup is without ${path}: k0s.yaml names it, but it is no file`, "quiet");
    return archive;
}

function localName({ when, change }: BackupMoment, nodeName: string, backup: BackupInputs, now: Date): string {
    const time = now.toISOString().replace(/\.\d+/, "").replace(/[-:]/g, "");
    const prefix = when === "after" ? "post_" : "";
    return `${prefix}${time}-${nodeName}-${change}.tar.gz${backup.passphrase === undefined ? "" : ".age"}`;
}

/** Lets an archive through, and fails at its end unless it is byte for byte what the helper made. */
class Proof extends Transform {
    private readonly hash: Hash = createHash("sha256");

    constructor(
        private readonly archive: BackupArchive,
        private readonly host: string,
    ) {
        super();
    }

    override _transform(chunk: Buffer, _encoding: string, done: (error: Error | null, chunk?: Buffer) => void): void {
        this.hash.update(chunk);
        done(null, chunk);
    }

    override _flush(done: (error: Error | null) => void): void {
        const isWhole = this.hash.digest("hex") === this.archive.sha256;
        done(isWhole ? null : this.damaged());
    }

    private damaged(): ConnectionError {
        return new ConnectionError({ stage: STAGE, host: this.host, what: "the archive was damaged in transfer" });
    }
}

function mib(bytes: number): string {
    return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
