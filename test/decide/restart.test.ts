import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { mayRestart } from "../../provider/decide/restart";
import type { Member } from "../../provider/facts/cluster";
import { member } from "./build";

const NAMES = ["c1", "c2", "c3", "c4", "c5", "c6", "c7"];

/** c1 is restarted; the last `broken` of the others are not healthy. */
function members(count: number, broken: number, own: Partial<Member> = {}): Member[] {
    return NAMES.slice(0, count).map((name, index) =>
        member(name, index === 0 ? own : { health: index >= count - broken ? "unhealthy" : "healthy" }),
    );
}

describe("restarting a controller's k0s", () => {
    for (const count of [1, 2, 3, 4, 5, 6, 7]) {
        it(`is possible with all others healthy, ${count <= 2 ? "without an API meanwhile" : "with a quorum"} (${count})`, () => {
            const allowed = { ok: true, withoutApi: count <= 2 };
            assert.deepEqual(mayRestart(members(count, 0), members(count, 0)[0]), allowed);
            const broken = members(count, 0, { health: "unhealthy" });
            assert.deepEqual(mayRestart(broken, broken[0]), allowed, "its own health is what may be mended");
        });

        for (let broken = 1; broken < count; broken += 1) {
            it(`is refused with ${broken} of ${count - 1} others broken`, () => {
                const seen = mayRestart(members(count, broken), members(count, broken)[0]);
                assert.equal(seen.ok, false);
            });
        }
    }

    it("is refused where it is no member, or where members are not settled", () => {
        const all = members(3, 0);
        const why = (list: Member[], own: Member | undefined): string => {
            const seen = mayRestart(list, own);
            return seen.ok ? "" : seen.why;
        };
        assert.match(why(all, undefined), /does not list it/);
        assert.match(why([...all, member("c4", { learner: true })], all[0]), /learner/);
        assert.match(why([...all, member("c4", { name: "" })], all[0]), /never started/);
        assert.match(why([...all, member("c4", { health: "unknown" })], all[0]), /2 of 3 other voting members/);
    });
});
