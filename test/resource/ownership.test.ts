import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { newToken, rememberToken, tokensOfThisProcess } from "../../provider/resource/ownership";

describe("the tokens of this process", () => {
    it("are those its creates made, each another", () => {
        const before = tokensOfThisProcess();
        const made = [newToken(), newToken()];
        assert.notEqual(made[0], made[1]);
        assert.deepEqual(tokensOfThisProcess(), [...before, ...made]);
    });

    it("are also those of resources in the state, which an update that ended early has made", () => {
        rememberToken({ token: "of an earlier update" });
        rememberToken({ token: undefined });
        assert.ok(tokensOfThisProcess().includes("of an earlier update"));
        assert.ok(!tokensOfThisProcess().includes("undefined"));
    });

    it("cannot be added to by whoever reads them", () => {
        tokensOfThisProcess().push("a token of another process");
        assert.ok(!tokensOfThisProcess().includes("a token of another process"));
    });
});
