import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { parseK0sYaml } from "../../../provider/adapters/k0s/yaml";

describe("a k0s.yaml", () => {
    it("is its first document, as k0s reads it", () => {
        assert.deepEqual(parseK0sYaml("---\nspec: { a: 1 }\n---\n"), { spec: { a: 1 } });
        assert.deepEqual(parseK0sYaml("spec: { a: 1 }\n---\nspec: { a: [\n"), { spec: { a: 1 } });
        assert.throws(() => parseK0sYaml("spec: { a: [\n"));
    });

    it("may be empty", () => {
        for (const text of ["", "# nothing\n", "---\n"]) assert.equal(parseK0sYaml(text), null);
    });

    it("is YAML 1.1", () => {
        assert.deepEqual(parseK0sYaml("a: &x { b: off }\nc: { <<: *x, d: 0644 }\n"), {
            a: { b: false },
            c: { b: false, d: 0o644 },
        });
    });
});
