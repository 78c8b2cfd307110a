import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { keptBackups } from "./kept-backups";

const FOLDER = "/var/lib/pulumi-mke/backups";
const backup = (minute: number, what: string): string => `${FOLDER}/20261129T2000${minute}0Z-${what}.tar.gz`;
const kept = (files: readonly string[], mode = 0o600) => keptBackups(files, () => mode);

describe("what the demo lets stay on a machine", () => {
    it("is the last five backups of the cluster, by their names", () => {
        const files = [1, 2, 3, 4, 5].map((minute) => backup(minute, `c${minute}-before-remove`));
        const oldest = backup(0, "c9-after-add");
        assert.deepEqual(kept([...files, oldest]), {
            backups: [1, 2, 3, 4, 5].map((minute) => `c${minute}-before-remove`),
            others: [oldest],
        });
    });

    for (const [what, path, mode] of [
        ["one that others can read", backup(1, "c1-after-add"), 0o644],
        ["one that was not finished", `${FOLDER}/.unfinished-x`, 0o600],
        ["one of another moment", backup(1, "c1-during-add"), 0o600],
        ["one elsewhere", "/root/20261129T200000Z-c1-after-add.tar.gz", 0o600],
        ["a marker", "/var/lib/pulumi-mke/node.json", 0o600],
    ] as const) {
        it(`is no other file: ${what}`, () => {
            assert.deepEqual(kept([path], mode), { backups: [], others: [path] });
        });
    }
});
