import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, afterEach, beforeEach, describe, it } from "mocha";
import { LocalDirectory } from "../../../provider/adapters/local/new-file";
import { temporaryFolder } from "../../support/program";

describe("a directory for new files", () => {
    const folder = temporaryFolder("local");
    const path = join(folder.path, "files");
    const directory = new LocalDirectory(path, "backup.directory", "backing up");
    beforeEach(() => directory.prepare());
    afterEach(() => rmSync(path, { recursive: true, force: true }));
    after(() => folder.remove());

    it("never overwrites", async () => {
        writeFileSync(join(path, "one"), "old");
        const put = directory.put("one", Readable.from(["new"]));
        await assert.rejects(put, /cannot write into backup\.directory .*EEXIST/);
        assert.equal(readFileSync(join(path, "one"), "utf8"), "old");
        assert.deepEqual(readdirSync(path), ["one"]);
    });

    it("shows a file under its name only when it is whole", async () => {
        const slow = new Readable({ read: () => undefined });
        const put = directory.put("one", slow);
        slow.push("first half");
        while (!readdirSync(path).some((name) => readFileSync(join(path, name), "utf8") === "first half"))
            await new Promise((resolve) => setImmediate(resolve));
        assert.ok(!existsSync(join(path, "one")));
        slow.push(null);
        assert.equal(await put, join(path, "one"));
        assert.deepEqual(readdirSync(path), ["one"]);
    });

    it("loses what killed processes left, but not what others are writing, or have", async () => {
        const [dead, living] = ["0", "1"].map((digit) => join(path, `.pulumi-mke-${digit.repeat(16)}.partial`));
        const others = join(path, ".other.partial");
        const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
        for (const file of [dead, living, others]) writeFileSync(file ?? "", "");
        for (const file of [dead, others]) utimesSync(file ?? "", longAgo, longAgo);
        await directory.prepare();
        assert.deepEqual(
            [dead, living, others].map((file) => existsSync(file ?? "")),
            [false, true, true],
        );
    });
});
