import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/root";
import { serializedStub } from "../support/stub-text";

/**
 * State that exists holds this text. A change of it is an update of every node of every user, so it fails here first;
 * `stub.<kind>.txt` is what `@pulumi/pulumi` 3.248.0 and 3.276.0 both make of `sdk/stub.ts`.
 */
describe("the text stored with a resource", () => {
    for (const kind of ["controller", "worker"] as const) {
        it(`is the one of every earlier version (${kind})`, async () => {
            const { text } = await serializedStub(kind);
            assert.equal(text, readFileSync(join(root, `test/sdk/stub.${kind}.txt`), "utf8"));
        });

        it(`refers to this package by name only, and holds no secret (${kind})`, async () => {
            const { text, containsSecrets } = await serializedStub(kind);
            const required = [...text.matchAll(/require\(([^)]*)\)/g)].map(([, name]) => name);
            assert.deepEqual(new Set(required), new Set(['"pulumi-mke/provider"']));
            assert.equal(required.length, 6);
            assert.equal(containsSecrets, false);
            assert.ok(text.length < 2500);
            assert.doesNotMatch(text, /import\(|process|__dirname|\.\.\//);
        });
    }
});
