import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { eraOf } from "../../provider/decide/era";
import { additionTo, countVoters, removalOf } from "../../provider/decide/plan-common";
import { howToLeave, mayAdd, mayRemove } from "../../provider/decide/quorum";
import { member } from "./build";

/**
 * Quorum stated another way: `up` members can commit when every two groups that could commit share a member, which is to say
 * when the rest of the cluster is smaller than they are.
 */
function canCommit(up: readonly boolean[]): boolean {
    const alive = up.filter(Boolean).length;
    return alive > up.length - alive;
}

/** Every way `n` members can be up or down. */
function worlds(n: number): boolean[][] {
    return Array.from({ length: 2 ** n }, (_, bits) =>
        Array.from({ length: n }, (_unused, i) => ((bits >> i) & 1) === 1),
    );
}

function count(up: readonly boolean[]): { voters: number; healthy: number } {
    return { voters: up.length, healthy: up.filter(Boolean).length };
}

describe("quorum", () => {
    for (const n of [1, 2, 3, 4, 5, 6, 7]) {
        it(`lets a voter of ${n} go only where the cluster commits it and lives on`, () => {
            for (const up of worlds(n)) {
                up.forEach((targetHealthy, target) => {
                    const rest = up.filter((_, i) => i !== target);
                    const allowed = mayRemove({ ...count(up), targetIsVoter: true, targetHealthy, minControllers: 1 });
                    const survives = n > 1 && canCommit(up) && canCommit(rest);
                    assert.equal(allowed.ok, survives, `${up.join()} without ${target}`);
                });
            }
        });

        it(`leaves to k0s only a voter of ${n} that may stop before its removal is committed`, () => {
            for (const up of worlds(n)) {
                up.forEach((targetHealthy, target) => {
                    const removal = { ...count(up), targetIsVoter: true, targetHealthy };
                    if (!mayRemove({ ...removal, minControllers: 1 }).ok) return;
                    const stopped = up.map((isUp, i) => isUp && i !== target);
                    const bySpec = targetHealthy && n > 2 && canCommit(stopped);
                    const method = howToLeave({ ...removal, era: "C", hasObject: true });
                    assert.equal(method, bySpec ? "spec-leave" : "member-remove", `${up.join()} without ${target}`);
                });
            }
        });

        it(`adds to ${n} only when all of them are healthy`, () => {
            for (const up of worlds(n)) {
                const allowed = mayAdd({ ...count(up), learners: 0, unstarted: 0, maxControllers: 9 });
                assert.equal(allowed.ok, up.every(Boolean), up.join());
            }
        });
    }

    it("lets a learner always go", () => {
        const learner = { targetIsVoter: false, targetHealthy: false, minControllers: 3 };
        assert.ok(mayRemove({ voters: 3, healthy: 1, ...learner }).ok);
    });

    it("keeps cluster.minControllers and cluster.maxControllers", () => {
        const live = { voters: 3, healthy: 3, targetIsVoter: true, targetHealthy: true };
        assert.ok(mayRemove({ ...live, minControllers: 2 }).ok);
        assert.deepEqual(mayRemove({ ...live, minControllers: 3 }), {
            ok: false,
            why: "2 controllers would be left, fewer than cluster.minControllers (3)",
            isLimit: true,
        });
        const short = mayRemove({ ...live, healthy: 2, minControllers: 2 });
        assert.deepEqual(short, {
            ok: false,
            why: "1 healthy controller would be left, fewer than cluster.minControllers (2)",
        });
        const healthy = { voters: 3, healthy: 3, learners: 0, unstarted: 0 };
        assert.ok(mayAdd({ ...healthy, maxControllers: 4 }).ok);
        assert.equal(mayAdd({ ...healthy, maxControllers: 3 }).ok, false);
    });

    it("lets one that is not healthy go whatever cluster.minControllers is, but not one of which nobody knows", () => {
        const dead = { voters: 3, healthy: 2, targetIsVoter: true, targetHealthy: false, minControllers: 3 };
        assert.ok(mayRemove(dead).ok);
        assert.deepEqual(mayRemove({ ...dead, targetUnknown: true }), {
            ok: false,
            why: "2 controllers would be left, fewer than cluster.minControllers (3)",
            isLimit: true,
        });
        assert.ok(mayRemove({ ...dead, targetUnknown: true, minControllers: 2 }).ok);
        assert.equal(mayRemove({ ...dead, healthy: 1 }).ok, false, "a quorum it needs all the same");
    });

    it("counts no learner among the voters, whatever its health", () => {
        const learner = member("c3", { learner: true });
        const members = [member("c1"), member("c2", { health: "unhealthy" }), learner];
        assert.deepEqual(countVoters({ members }), { voters: 2, healthy: 1 });
        assert.deepEqual(removalOf(learner, members, 1), {
            voters: 2,
            healthy: 1,
            targetIsVoter: false,
            targetHealthy: true,
            targetUnknown: false,
            minControllers: 1,
        });
        const { voters, healthy, learners } = additionTo(members, 7);
        assert.deepEqual([voters, healthy, learners], [2, 1, 1]);
    });

    it("adds to no cluster with a learner or an unstarted member", () => {
        const healthy = { voters: 3, healthy: 3, maxControllers: 7 };
        assert.equal(mayAdd({ ...healthy, learners: 1, unstarted: 0 }).ok, false);
        assert.equal(mayAdd({ ...healthy, learners: 0, unstarted: 1 }).ok, false);
    });

    it("removes by ID what k0s cannot take out itself", () => {
        const live = {
            voters: 3,
            healthy: 3,
            targetIsVoter: true,
            targetHealthy: true,
            era: "C",
            hasObject: true,
        } as const;
        assert.equal(howToLeave(live), "spec-leave");
        assert.equal(howToLeave({ ...live, era: "B" }), "spec-leave");
        assert.equal(howToLeave({ ...live, era: "A" }), "member-remove");
        assert.equal(howToLeave({ ...live, hasObject: false }), "member-remove");
        assert.equal(howToLeave({ ...live, targetIsVoter: false }), "member-remove");
        assert.equal(howToLeave({ ...live, voters: 2, healthy: 2, era: "B" }), "member-remove");
    });
});

describe("version eras", () => {
    const cases: readonly (readonly [string, string])[] = [
        ["v1.30.0+k0s.0", "A"],
        ["v1.33.13+k0s.0", "A"],
        ["v1.34.3+k0s.0", "A"],
        ["v1.34.4+k0s.0", "B"],
        ["v1.34.10+k0s.0", "B"],
        ["v1.35.4+k0s.0", "B"],
        ["v1.35.5+k0s.0", "C"],
        ["v1.36.3+k0s.2", "C"],
        ["v1.37.0+k0s.0", "C"],
        ["not a version", "C"],
    ];
    for (const [version, era] of cases) {
        it(`puts ${version} into era ${era}`, () => assert.equal(eraOf(version), era));
    }
});
