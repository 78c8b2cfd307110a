import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { defined } from "../provider/defined";

describe("properties that may be undefined", () => {
    const text: string | undefined = ["given"][0];
    const none: string | undefined = [][0];

    it("are left out where they are, and nothing else is", () => {
        const kept = { text: "", zero: 0, no: false, none: null, list: [] };
        assert.deepEqual(defined({ ...kept, gone: undefined }), kept);
        assert.deepEqual(Object.keys(defined({ none, text })), ["text"]);
    });

    it("become such as may be absent, and those that are always there stay so", () => {
        const exact: { name: string; text?: string; none?: string } = defined({ name: "c1", text, none });
        assert.deepEqual(exact, { name: "c1", text: "given" });
        // @ts-expect-error: it may be absent.
        const always: { text: string } = defined({ text });
        assert.equal(always.text, "given");
    });
});
