import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { compareK0sVersions, eraOf, isAtLeast, parseK0sVersion } from "../../../provider/adapters/k0s/eras";

describe("k0s versions", () => {
    it("are read with their build number", () => {
        assert.deepEqual(parseK0sVersion("v1.36.3+k0s.2\n"), { major: 1, minor: 36, patch: 3, build: 2 });
        assert.deepEqual(parseK0sVersion("1.35.4"), { major: 1, minor: 35, patch: 4, build: 0 });
        assert.deepEqual(parseK0sVersion("v1.36.0-rc.1+k0s.0"), { major: 1, minor: 36, patch: 0, build: 0 });
        assert.equal(parseK0sVersion("dev"), undefined);
    });

    it("are compared as numbers", () => {
        const order = ["v1.9.0+k0s.0", "v1.34.4+k0s.0", "v1.34.10+k0s.0", "v1.34.10+k0s.1", "v1.36.0+k0s.0"];
        const shuffled = [3, 0, 4, 2, 1].map((index) => order[index] ?? "");
        const parsed = shuffled.sort((a, b) => {
            const [left, right] = [parseK0sVersion(a), parseK0sVersion(b)];
            assert.ok(left && right);
            return compareK0sVersions(left, right);
        });
        assert.deepEqual(parsed, order);
    });

    for (const [version, era] of [
        ["v1.30.0+k0s.0", "A"],
        ["v1.33.13+k0s.0", "A"],
        ["v1.34.3+k0s.0", "A"],
        ["v1.34.4+k0s.0", "B"],
        ["v1.34.10+k0s.0", "B"],
        ["v1.35.1+k0s.0", "B"],
        ["v1.35.4+k0s.0", "B"],
        ["v1.35.5+k0s.0", "C"],
        ["v1.36.1+k0s.0", "C"],
        ["v1.36.3+k0s.2", "C"],
        ["v1.37.0+k0s.0", "C"],
        ["unknown", undefined],
    ] as const) {
        it(`${version} belongs to era ${era ?? "unknown"}`, () => assert.equal(eraOf(version), era));
    }

    it("are at least another version or not, and never when unreadable", () => {
        assert.equal(isAtLeast("v1.35.5+k0s.0", "1.35.5"), true);
        assert.equal(isAtLeast("v1.35.4+k0s.9", "1.35.5"), false);
        assert.equal(isAtLeast("?", "1.0.0"), false);
    });
});
