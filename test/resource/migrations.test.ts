import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { silentLog } from "../../provider/log";
import { RefusedError } from "../../provider/errors";
import { diff } from "../../provider/resource/diff";
import {
    assertReadable,
    isLater,
    migrated,
    migratedOutputs,
    type Migration,
    SCHEMA_VERSION,
    schemaVersionOf,
} from "../../provider/resource/migrations";
import type { Bag } from "../../provider/resource/shape";
import { checked, stored } from "../support/node-bags";

/** Two renames, as later versions might make them. */
const RENAMES: readonly Migration[] = [
    ({ address, ...rest }) => (address === undefined ? rest : { ...rest, host: address }),
    ({ tags, ...rest }) => (tags === undefined ? rest : { ...rest, labels: tags }),
];

describe("outputs of an earlier version", () => {
    it("go through every migration since then, and say their new version", () => {
        const first = { address: "10.0.0.1", tags: { a: "b" }, schemaVersion: 1 };
        const today = { host: "10.0.0.1", labels: { a: "b" }, schemaVersion: 3 };
        assert.deepEqual(migratedOutputs(first, RENAMES), today);
        assert.deepEqual(migratedOutputs({ ...first, schemaVersion: 2 }, RENAMES), {
            address: "10.0.0.1",
            labels: { a: "b" },
            schemaVersion: 3,
        });
        assert.deepEqual(migratedOutputs(today, RENAMES), today);
    });

    it("are of the first version where they do not say", () => {
        for (const schemaVersion of [undefined, null, 0, -1, NaN, "2", {}]) {
            assert.equal(schemaVersionOf({ schemaVersion }), 1);
        }
    });

    it("lie beside inputs of that version, which have none of their own", () => {
        assert.deepEqual(migrated({ tags: {} }, 2, RENAMES), { labels: {} });
        assert.deepEqual(migrated({ labels: {} }, 2, RENAMES), { labels: {} });
    });

    it("are no reason to touch a node", () => {
        for (const schemaVersion of [0, 1]) {
            assert.equal(diff({ ...stored(), schemaVersion }, checked(), silentLog).changes, false);
        }
        const { schemaVersion: _, ...without } = stored();
        assert.equal(diff(without, checked(), silentLog).changes, false);
    });
});

describe("outputs of a later version", () => {
    const later = (more: Bag = {}): Bag => ({ ...stored(), schemaVersion: SCHEMA_VERSION + 1, ...more });

    it("are refused, with what to install", () => {
        assert.equal(stored()["schemaVersion"], SCHEMA_VERSION);
        for (const readable of [stored(), {}]) assert.doesNotThrow(() => assertReadable(readable));
        assert.throws(
            () => assertReadable(later()),
            (error: unknown) => {
                assert.ok(error instanceof RefusedError);
                assert.match(error.message, /later version of pulumi-mke .*\n.*Install at least the version/);
                return true;
            },
        );
        assert.equal(isLater(stored()), false);
    });

    it("stay as they are", () => {
        const outs = { host: "a", schemaVersion: 9 };
        assert.equal(migratedOutputs(outs, RENAMES), outs);
    });

    it("are an update, which refuses, and never a replacement, whose create would not", () => {
        const lines: string[] = [];
        const result = diff(later({ host: "moved elsewhere" }), checked(), { line: (text) => lines.push(text) });
        assert.deepEqual(result, { changes: true, replaces: [], deleteBeforeReplace: false });
        assert.deepEqual(lines, ["will be updated: its state was written by a later version of pulumi-mke"]);
    });
});
