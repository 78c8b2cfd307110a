import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { CommandError, InputError, RefusedError } from "../../provider/errors";
import type { K0sSource } from "../../provider/inputs";
import { nothingToDo } from "../../provider/stages/stage";
import { stageBinary } from "../../provider/stages/stage-binary";
import { blankHost } from "../decide/build";
import { only } from "../support/fake-calls";
import { HELPER_VERSION } from "../support/fake-host";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";
import { temporaryFolder } from "../support/program";

const PATH = "/usr/local/bin/k0s";
const URL = "https://example.com/k0s";

function world(k0s: Partial<K0sSource>, options: SceneOptions = {}): Scene {
    return scene({ ...options, inputs: { k0s: { installPath: PATH, ...k0s } } });
}

const stage = ({ operation }: Scene): Promise<unknown> => stageBinary(operation, Deadline.after(5000));
/** How the program got to the host. */
const ways = ({ calls }: Scene): string[] => only(calls, "c3 put", "c3 download", "c1");

describe("staging k0s", () => {
    const folder = temporaryFolder("k0s");
    const localPath = join(folder.path, "k0s");
    before(() => writeFileSync(localPath, "program"));
    after(() => folder.remove());

    it("does nothing where the wanted version is there already, whatever the source", async () => {
        const there = world({ localPath, downloadUrl: URL });
        there.files.set(PATH, HELPER_VERSION);
        assert.deepEqual(await stage(there), nothingToDo(`${HELPER_VERSION} is already there`));
        assert.deepEqual(ways(there), []);
        assert.equal(there.operation.progress.installedBinary, false);
    });

    it("replaces another version", async () => {
        const other = world({});
        other.files.set(PATH, "v1.30.0+k0s.0");
        assert.match(String(await stage(other)), /copied from 10\.0\.0\.1$/);
    });

    it("takes the local file before anything else", async () => {
        const read: string[] = [];
        const local: Scene = world(
            { localPath, downloadUrl: URL, sha256: "cafe" },
            {
                target: {
                    putExecutable: async (path, content) => {
                        read.push(await text(content));
                        local.files.set(path, HELPER_VERSION);
                    },
                },
            },
        );
        assert.equal(await stage(local), `${HELPER_VERSION} from a local file`);
        assert.deepEqual(read, ["program"]);
        assert.deepEqual(ways(local), [`c3 putExecutable ${PATH} 7 cafe`]);
    });

    it("lets the host download it before it asks the helper", async () => {
        const download = world({ downloadUrl: URL, sha256: "cafe" });
        assert.equal(await stage(download), `${HELPER_VERSION} downloaded`);
        assert.deepEqual(ways(download), [`c3 downloadExecutable ${URL} ${PATH} cafe`]);
    });

    it("copies the helper's own program otherwise, with its size and checksum", async () => {
        const copy = world({});
        await stage(copy);
        assert.deepEqual(ways(copy), [`c1 sha256 ${PATH}`, `c1 openFile ${PATH}`, `c3 putExecutable ${PATH} 3 ab12`]);
    });

    it("remembers that the program is ours", async () => {
        const copy = world({});
        await stage(copy);
        assert.equal(copy.operation.progress.installedBinary, true);
    });

    it("borrows no program of another architecture", async () => {
        const arm = world({}, { hostFacts: blankHost("c3", { arch: "arm64" }) });
        await assert.rejects(stage(arm), (error: Error) => {
            assert.ok(error instanceof RefusedError);
            assert.match(error.message, /the host is arm64, but 10\.0\.0\.1 could only lend a program for amd64/);
            return true;
        });
        assert.deepEqual(ways(arm), []);
    });

    it("names a local file that cannot be read", async () => {
        const missing = world({ localPath: join(folder.path, "none") });
        await assert.rejects(
            stage(missing),
            (error: Error) => error instanceof InputError && /none cannot be read/.test(error.message),
        );
        assert.deepEqual(ways(missing), []);
    });

    for (const [found, words] of [
        ["v1.30.0+k0s.0", /k0s is v1\.30\.0\+k0s\.0, wanted v1\.35\.4\+k0s\.0/],
        [undefined, /k0s is not a k0s program that runs, wanted v1\.35\.4\+k0s\.0/],
    ] as const) {
        it(`fails when what arrived is ${found ?? "no k0s"}, and knows that it is ours to take away`, async () => {
            const wrong = world({ version: "v1.35.4+k0s.0" }, { target: { k0sVersion: async () => found } });
            await assert.rejects(
                stage(wrong),
                (error: Error) => error instanceof CommandError && words.test(error.message),
            );
            assert.equal(wrong.operation.progress.installedBinary, true);
        });
    }
});
