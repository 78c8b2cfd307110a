import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { RefusedError } from "../provider/errors";
import { toldOnce } from "../provider/told-once";

/** What Pulumi prints of it, besides the message. */
async function printed(error: unknown): Promise<string> {
    try {
        return await toldOnce("c2", async () => {
            throw error;
        });
    } catch (thrown) {
        assert.equal(thrown, error);
        return `${String(thrown)}: ${(thrown as Error).stack ?? ""}`;
    }
}

describe("an error that Pulumi prints", () => {
    it("is told by its message alone where it is one of this package's", async () => {
        const error = new RefusedError({ stage: "deciding", what: "it may not go", topic: "quorum" });
        assert.equal(await printed(error), "c2: failed, for the reason that its error says");
        assert.match(error.message, /^deciding: it may not go\nRunbook: /);
    });

    it("keeps its stack where it is a fault", async () => {
        assert.match(await printed(new TypeError("x is undefined")), /TypeError: x is undefined\n {4}at .*told-once/);
    });

    it("leaves an answer as it is", async () => {
        assert.equal(await toldOnce("c2", async () => 1), 1);
    });
});
