import assert from "node:assert/strict";
import { beforeEach, describe, it } from "mocha";
import type { Deadline } from "../../provider/deadline";
import { runStage } from "../../provider/stages/stage";

describe("a stage", () => {
    let lines: string[];
    const log = { line: (text: string): void => void lines.push(text) };

    beforeEach(() => void (lines = []));

    it("tells when it starts, and how it ended and after how long", async () => {
        await runStage(log, "joining etcd", 1, async () => {
            assert.deepEqual(lines, ["joining etcd …"]);
            return "voter";
        });
        assert.match(lines[1] ?? "", /^joining etcd … voter after \d+\.\d s$/);
    });

    it("is done where it has nothing to tell", async () => {
        await runStage(log, "stopping k0s", 1, async () => undefined);
        assert.match(lines[1] ?? "", /^stopping k0s … done after /);
    });

    it("tells of its failure without the reason, which is the error's to tell", async () => {
        const broken = new Error("no such host");
        await assert.rejects(
            runStage(log, "draining", 1, () => Promise.reject(broken)),
            broken,
        );
        assert.equal(lines.length, 2);
        assert.match(lines[1] ?? "", /^draining … failed after \d+\.\d s$/);
    });

    it("has a deadline of its own, in seconds", async () => {
        let remaining = 0;
        const body = async (deadline: Deadline): Promise<void> => void ({ remaining } = deadline);
        await runStage(log, "draining", 300, body);
        assert.ok(remaining > 290_000 && remaining <= 300_000, String(remaining));
    });
});
