import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
    chmodSync,
    chownSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    rmSync,
    statSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "mocha";
import type { HostMaterial } from "../../../provider/adapters/host/material";
import { closeAll, openHost } from "../../../provider/adapters/ssh/pool";
import { CommandError, InputError } from "../../../provider/errors";
import { skipWithout } from "../../support/real-parts";
import { SSHD_PARTS, TestSshd } from "../../support/sshd";
import { soon } from "./over-sshd";

/** Nobody's. */
const NUMBER = 54321;

describe("files with owners over a real sshd", () => {
    let stop = (): void => undefined;
    let material: HostMaterial;
    let directory: string;

    before(async function () {
        skipWithout(this, ...SSHD_PARTS);
        const sshd = await TestSshd.start();
        stop = () => sshd.stop();
        ({ material } = openHost("127.0.0.1", sshd.connection()).onMachine({ machineId: "" }));
    });
    before(() => (directory = mkdtempSync(join(tmpdir(), "mke-material-"))));
    afterEach(() => {
        for (const entry of readdirSync(directory)) rmSync(join(directory, entry), { recursive: true });
    });
    after(() => {
        rmSync(directory, { recursive: true, force: true });
        closeAll();
        stop();
    });

    it("are described in one answer: kind, mode, owner by name or number, and sum; links are followed", async () => {
        const at = (name: string): string => join(directory, name);
        writeFileSync(at("it's a file"), "content");
        chmodSync(at("it's a file"), 0o640);
        writeFileSync(at("nameless"), "");
        chownSync(at("nameless"), NUMBER, NUMBER);
        mkdirSync(at("dir"), { mode: 0o711 });
        symlinkSync("it's a file", at("link"));
        symlinkSync("nowhere", at("dangling"));
        const paths = ["it's a file", "nameless", "dir", "link", "dangling", "none"].map(at);
        const found = await material.describe([...paths, "/dev/null"], soon());
        const sum = createHash("sha256").update("content").digest("hex");
        assert.deepEqual(
            found.map(({ kind, mode, user, group, sha256 }) => [kind, mode, user, group, sha256?.slice(0, 8)]),
            [
                ["file", 0o640, "root", "root", sum.slice(0, 8)],
                ["file", 0o644, String(NUMBER), String(NUMBER), "e3b0c442"],
                ["directory", 0o711, "root", "root", undefined],
                ["file", 0o640, "root", "root", sum.slice(0, 8)],
                ["absent", 0, "", "", undefined],
                ["absent", 0, "", "", undefined],
                ["other", 0o666, "root", "root", undefined],
            ],
        );
    });

    it("are listed in a directory and in those below it, no deeper", async () => {
        mkdirSync(join(directory, "certs.d/docker.io/deep"), { recursive: true });
        for (const name of ["a.toml", "certs.d/b", "certs.d/docker.io/hosts.toml"]) {
            writeFileSync(join(directory, name), "");
        }
        assert.deepEqual(await material.list(directory, soon()), [
            join(directory, "a.toml"),
            join(directory, "certs.d/b"),
        ]);
        assert.deepEqual(await material.list(join(directory, "none"), soon()), []);
    });

    it("get directories of their own mode, and leave those that exist as they are", async () => {
        const there = join(directory, "there");
        mkdirSync(there, { mode: 0o755 });
        const inner = join(there, "in ner");
        const wanted = [
            { path: there, mode: 0o700 },
            { path: inner, mode: 0o750 },
        ];
        await material.makeDirectories(wanted, soon());
        assert.deepEqual([statSync(there).mode & 0o777, statSync(inner).mode & 0o777], [0o755, 0o750]);
        await assert.rejects(
            material.makeDirectories([{ path: join(directory, "x/y"), mode: 0o755 }], soon()),
            CommandError,
        );
    });

    it("get owner and mode by name or number, but not through a link", async () => {
        const file = join(directory, "a file");
        const link = join(directory, "link");
        writeFileSync(file, "");
        symlinkSync(file, link);
        await material.own([{ path: file, mode: 0o640, user: "nobody", group: String(NUMBER) }], soon());
        const { uid, gid, mode } = statSync(file);
        assert.deepEqual([uid, gid, mode & 0o777], [65534, NUMBER, 0o640]);
        const owner = { mode: 0o600, user: "root", group: "root" };
        await assert.rejects(material.own([{ path: link, ...owner }], soon()), /symbolic link/);
        await assert.rejects(material.own([{ path: file, ...owner, user: "no-such-user" }], soon()), CommandError);
    });

    it("have owners the host may not know", async () => {
        const names = { users: ["root", "no-such-user", "0"], groups: ["root", "no-such-group", "12"] };
        assert.deepEqual(await material.unknownNames(names, soon()), {
            users: ["no-such-user"],
            groups: ["no-such-group"],
        });
    });

    it("are removed with the directories that are empty then, and nothing else", async () => {
        const at = (name: string): string => join(directory, name);
        mkdirSync(at("ours/inner"), { recursive: true });
        mkdirSync(at("shared"));
        for (const name of ["ours/inner/a", "shared/ours", "shared/theirs"]) writeFileSync(at(name), "");
        symlinkSync(at("shared"), at("link"));
        const left = await material.remove(
            [at("ours/inner/a"), at("shared/ours"), at("gone"), at("shared")],
            [at("ours/inner"), at("ours"), at("shared"), at("link")],
            soon(),
        );
        assert.deepEqual(left, [`${at("shared")} (a directory)`]);
        assert.deepEqual(readdirSync(directory).sort(), ["link", "shared"]);
        assert.ok(existsSync(at("shared/theirs")));
    });

    it("whose paths hold a line break are refused before anything is sent", async () => {
        await assert.rejects(material.describe(["/a\n/etc/passwd"], soon()), InputError);
    });
});
