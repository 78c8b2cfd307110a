import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { ApiError, LockError } from "../../provider/errors";
import { proveLock } from "../../provider/stages/prove-lock";
import { scene } from "../support/fake-operation";

describe("proving the lock before going on", () => {
    const away = new ApiError({ stage: "asking", what: "503", code: 503, retryable: true });

    it("waits for an API that is away for a moment", async () => {
        let asked = 0;
        const prove = async (): Promise<void> => {
            asked += 1;
            if (asked === 1) throw away;
        };
        await proveLock(scene({ lock: { prove } }).operation, Deadline.after(60_000));
        assert.equal(asked, 2);
    });

    it("ends at once with a lock that is lost", async () => {
        const world = scene();
        world.loseLock();
        await assert.rejects(proveLock(world.operation, Deadline.after(60_000)), LockError);
        assert.deepEqual(world.calls, ["lock prove"]);
    });
});
