import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import { documentPath } from "../provider/documents";
import { root } from "./support/root";

describe("the path of a document", () => {
    let folder: string;

    beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), "documents-")))));
    afterEach(() => rmSync(folder, { recursive: true }));

    /** An installed package there, and what names it. */
    function installed(at: string): string {
        const place = join(folder, at);
        mkdirSync(join(place, "docs"), { recursive: true });
        writeFileSync(join(place, "docs", "runbook.md"), "");
        return place;
    }

    function linked(from: string, to: string): void {
        mkdirSync(dirname(join(folder, from)), { recursive: true });
        symlinkSync(to, join(folder, from));
    }

    const INSTALLED = "node_modules/pulumi-mke/docs/runbook.md";

    it("leads into node_modules where the package is installed, by npm and by pnpm", () => {
        assert.equal(documentPath("runbook.md", folder, installed("node_modules/pulumi-mke")), INSTALLED);
        rmSync(join(folder, "node_modules"), { recursive: true });
        const store = installed("node_modules/.pnpm/pulumi-mke@1/node_modules/pulumi-mke");
        linked("node_modules/pulumi-mke", store);
        assert.equal(documentPath("runbook.md", folder, store), INSTALLED);
    });

    it("leads through the link where the package is linked into the project", () => {
        const clone = installed("clone");
        linked("project/node_modules/pulumi-mke", clone);
        assert.equal(documentPath("runbook.md", join(folder, "project"), clone), INSTALLED);
    });

    it("is short in a clone, which has itself among its modules", () => {
        const clone = installed("clone");
        linked("clone/node_modules/pulumi-mke", clone);
        assert.equal(documentPath("runbook.md", clone, clone), "docs/runbook.md");
        assert.equal(documentPath("runbook.md", root), "docs/runbook.md");
    });

    it("is whole where the program runs in a folder below its modules", () => {
        const own = installed("node_modules/pulumi-mke");
        mkdirSync(join(folder, "src"));
        assert.equal(documentPath("runbook.md", join(folder, "src"), own), join(own, "docs", "runbook.md"));
    });
});
