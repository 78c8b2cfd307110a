import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, afterEach, describe, it } from "mocha";
import type { Host } from "../../provider/adapters/host";
import { Deadline } from "../../provider/deadline";
import { ConnectionError, InputError } from "../../provider/errors";
import type { BackupInputs } from "../../provider/inputs";
import { type BackupMoment, backUpOnHelper, backUpToDirectory } from "../../provider/stages/backup";
import { openWithAge } from "../support/age";
import { only } from "../support/fake-calls";
import { type Scene, scene } from "../support/fake-operation";
import { temporaryFolder } from "../support/program";

const PASSPHRASE = "planted: a pass phrase 'of' mine";
const OUTGOING = "/var/lib/pulumi-mke/backups/.outgoing-1";
const BEFORE: BackupMoment = { when: "before", change: "add" };
const content = randomBytes(200_000);

describe("a backup that is streamed to where Pulumi runs", () => {
    const folder = temporaryFolder("backup");
    const directory = join(folder.path, "new/backups");
    afterEach(() => rmSync(directory, { recursive: true, force: true }));
    after(() => folder.remove());

    /** c1 has made an archive, and sends these bytes for it. */
    function world(
        backup: Partial<BackupInputs>,
        sent: () => Readable = () => Readable.from([content]),
        size = content.length,
    ): Scene {
        const sha256 = createHash("sha256").update(content).digest("hex");
        const helper: Partial<Host> = {
            backUp: async () => ({ path: OUTGOING, size, sha256, without: [] }),
            openFile: async () => ({ size: content.length, content: sent() }),
        };
        return scene({ helper, inputs: { backup: { skip: false, unencrypted: false, directory, ...backup } } });
    }

    const take = (given: Scene, moment = BEFORE): Promise<unknown> =>
        backUpToDirectory(given.operation, moment, directory, Deadline.afterSeconds(600));

    it("is encrypted so that age opens it, for its owner alone, under the time, the node and the operation", async () => {
        const given = world({ passphrase: PASSPHRASE });
        await take(given);
        const [name = "", ...others] = readdirSync(directory);
        assert.deepEqual(others, []);
        assert.match(name, /^\d{8}T\d{6}Z-c3-add\.tar\.gz\.age$/);
        const path = join(directory, name);
        assert.deepEqual([statSync(path).mode & 0o777, statSync(directory).mode & 0o777], [0o600, 0o700]);
        const { decrypted, skipped } = await openWithAge(path, PASSPHRASE);
        if (skipped !== undefined) console.log(`      not opened with the age tool: ${skipped}`);
        assert.ok(decrypted.equals(content));
    });

    it("is told with brackets where the helper that keeps it has an IPv6 address", async () => {
        const { operation } = world({});
        const helper = { ...operation.cluster.helper, address: "fd00::11" };
        const onIpv6 = { ...operation, cluster: { ...operation.cluster, helper } };
        const told = await backUpOnHelper(onIpv6, BEFORE, Deadline.afterSeconds(600));
        assert.equal(told, `[fd00::11]:${OUTGOING} (0.2 MiB)`);
    });

    it("shows the passphrase to nobody, and is nowhere unencrypted on this machine", async () => {
        const planted = Buffer.from("planted: the cluster's private key");
        const sha256 = createHash("sha256").update(planted).digest("hex");
        const given = world({ passphrase: PASSPHRASE });
        const { helper } = given.operation.cluster;
        const archive = { path: OUTGOING, size: planted.length, sha256, without: [] };
        Object.assign(helper, {
            backUp: async () => archive,
            openFile: async () => ({ size: planted.length, content: Readable.from([planted]) }),
        });
        await take(given);
        const error = await take(world({ passphrase: PASSPHRASE }, () => Readable.from(["cut"]))).catch(String);
        const written = readdirSync(directory, { recursive: true }).map((name) =>
            readFileSync(join(directory, String(name)), "latin1"),
        );
        for (const text of [...given.calls, ...given.lines, String(error), ...written]) {
            assert.ok(!text.includes("planted"), text.slice(0, 200));
        }
    });

    it("is plain where the program says so, and its second one has the name of spec/002", async () => {
        await take(world({ unencrypted: true }), { when: "after", change: "remove" });
        const [name = ""] = readdirSync(directory);
        assert.match(name, /^post_\d{8}T\d{6}Z-c3-remove\.tar\.gz$/);
        assert.ok(readFileSync(join(directory, name)).equals(content));
    });

    it("leaves no copy on the helper, whether it arrived or not", async () => {
        const arrived = world({ unencrypted: true });
        await take(arrived);
        const cut = world({ unencrypted: true }, () => Readable.from([content.subarray(1)]));
        await assert.rejects(take(cut));
        for (const { calls } of [arrived, cut]) {
            assert.deepEqual(only(calls, "c1 backUp"), ["c1 backUp c3-before-add 0"]);
            assert.equal(only(calls, `c1 removeFiles ["${OUTGOING}"]`).length, 1);
        }
    });

    for (const [protection, backup] of [
        ["encrypted", { passphrase: PASSPHRASE }],
        ["plain", { unencrypted: true }],
    ] as const) {
        it(`is no file at all, ${protection}, unless every byte arrived as it was sent`, async () => {
            const changed = Buffer.from(content);
            changed[1000] = 1 + (changed[1000] ?? 0);
            const wrong = take(world(backup, () => Readable.from([changed])));
            await assert.rejects(
                wrong,
                (error) => error instanceof ConnectionError && /damaged in transfer/.test(error.message),
            );
            const lost = new ConnectionError({ stage: "talking over SSH", what: "the connection was closed" });
            for (const chunks of [0, 3]) {
                await assert.rejects(take(world(backup, () => breaking(chunks, lost))), lost);
                assert.deepEqual(readdirSync(directory), []);
            }
        });
    }

    it("is refused before anything is asked of the helper where the directory cannot be", async () => {
        mkdirSync(join(folder.path, "new"), { recursive: true });
        rmSync(directory, { recursive: true, force: true });
        writeFileSync(directory, "a file");
        const given = world({ unencrypted: true });
        await assert.rejects(take(given), (error: Error) => {
            assert.ok(error instanceof InputError);
            assert.match(error.message, /cannot write into backup\.directory .*new\/backups: EEXIST/);
            return true;
        });
        assert.deepEqual(given.calls, []);
    });

    it("is refused where the disk has too little space", async () => {
        const given = world({ unencrypted: true }, undefined, Number.MAX_SAFE_INTEGER);
        await assert.rejects(take(given), /backup\.directory .*: \d+ MiB are free, \d+ are needed/);
        assert.deepEqual(readdirSync(directory), []);
    });
});

/** Fails after that many pieces; 0: before anybody reads. */
function breaking(chunks: number, error: Error): Readable {
    let sent = 0;
    const stream = new Readable({
        read(): void {
            if (sent++ < chunks) this.push(content.subarray(0, 30_000));
            else this.destroy(error);
        },
    });
    stream.on("error", () => undefined);
    if (chunks === 0) stream.destroy(error);
    return stream;
}
