import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { newToken, tokensMadeHere } from "../../provider/resource/ownership";

describe("the tokens of this process", () => {
    it("are those its creates made, each another", () => {
        const before = tokensMadeHere();
        const made = [newToken(), newToken()];
        assert.notEqual(made[0], made[1]);
        assert.deepEqual(tokensMadeHere(), [...before, ...made]);
    });

    it("cannot be added to by whoever reads them", () => {
        tokensMadeHere().push("a token of another process");
        assert.ok(!tokensMadeHere().includes("a token of another process"));
    });
});
