import assert from "node:assert/strict";
import { describe, it } from "mocha";
import {
    REMOVED_ANNOTATION,
    removedIn,
    wasRemoved,
    withJoined,
    withRemoved,
} from "../../provider/facts/removed-controllers";

const C2 = { addresses: ["c2.example.org", "10.0.0.2"], memberId: "b2", etcdClusterId: "abc" };
const C3 = { addresses: ["10.0.0.3"], memberId: "c3", etcdClusterId: "abc" };
const noted = (...list: readonly object[]): Record<string, string> => ({ [REMOVED_ANNOTATION]: JSON.stringify(list) });

describe("which controllers are noted to have been removed", () => {
    it("is told by any address, in any spelling, of that very etcd cluster", () => {
        const list = removedIn(noted(C2, { ...C3, addresses: ["fd00::3"] }));
        assert.equal(wasRemoved(list, "10.0.0.2", "abc"), true);
        assert.equal(wasRemoved(list, "C2.example.org.", "abc"), true);
        assert.equal(wasRemoved(list, "[FD00:0::3]", "abc"), true);
        assert.equal(wasRemoved(list, "10.0.0.2", "restored since"), false);
        assert.equal(wasRemoved(list, "10.0.0.4", "abc"), false);
    });

    it("is nobody in a cluster without the note, or with one that cannot be read", () => {
        for (const text of ["no JSON", "{}", "[null, 1, {}]"]) {
            assert.deepEqual(removedIn({ [REMOVED_ANNOTATION]: text }), []);
        }
        assert.deepEqual(removedIn({}), []);
    });

    it("keeps the last removal at an address, and so many at most", () => {
        const again = { ...C2, memberId: "b9" };
        assert.deepEqual(JSON.parse(withRemoved(noted(C2, C3), again)), [C3, again]);
        const many = Array.from({ length: 20 }, (_, at) => ({ ...C3, addresses: [`10.0.1.${at}`] }));
        assert.deepEqual(JSON.parse(withRemoved(noted(...many), C2)), [...many.slice(-15), C2]);
    });

    it("forgets one whose address a controller joins with", () => {
        assert.equal(withJoined(noted(C2, C3), ["10.0.0.2"]), JSON.stringify([C3]));
        assert.equal(withJoined(noted(C2), ["10.0.0.2"]), null);
        assert.equal(withJoined(noted(C2), ["10.0.0.4"]), undefined);
    });
});
