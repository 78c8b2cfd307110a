import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { counted, firstLine, shortList } from "../provider/text";

describe("a list in a line for people", () => {
    it("is whole while it is short", () => {
        assert.equal(shortList([]), "");
        assert.equal(shortList(["w1", "w2", "w3", "w4", "w5"]), "w1, w2, w3, w4, w5");
    });

    it("is cut short, and says how much is left out", () => {
        assert.equal(shortList(["w1", "w2", "w3", "w4", "w5", "w6", "w7"]), "w1, w2, w3, w4, w5, 2 more");
        assert.equal(shortList(["a is late", "b is late", "c is late"], 1, "; "), "a is late; 2 more");
    });
});

describe("a number of things", () => {
    it("is singular for one", () => {
        assert.equal(counted(0, "path"), "0 paths");
        assert.equal(counted(1, "path"), "1 path");
        assert.equal(counted(3, "healthy member"), "3 healthy members");
    });
});

describe("the first line of a text", () => {
    it("is the text where it has no other", () => {
        assert.equal(firstLine("one\ntwo\nthree"), "one");
        assert.equal(firstLine("one"), "one");
        assert.equal(firstLine(""), "");
    });
});
