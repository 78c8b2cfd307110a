import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { seldom } from "../provider/log";

describe("lines about a wait that goes on", () => {
    const dueIn = (first: number, seconds: number): number[] => {
        let now = 0;
        const isTime = seldom(first, () => now);
        return Array.from({ length: seconds }, (_, index) => index).filter((second) => {
            now = second * 1000;
            return isTime();
        });
    };

    it("come at once and then more and more seldom, down to one in two minutes", () => {
        assert.deepEqual(dueIn(0, 500), [0, 15, 45, 105, 225, 345, 465]);
    });

    it("may leave short waits out", () => {
        assert.deepEqual(dueIn(15_000, 100), [15, 30, 60]);
    });
});
