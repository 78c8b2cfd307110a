import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline, type Look, waitFor, type WaitOptions } from "../provider/deadline";
import { ConnectionError, LockError, RefusedError, TimeoutError } from "../provider/errors";

const refused = new ConnectionError({ stage: "asking", what: "connection refused" });

/** Looks that answer one after another; the last one for ever. An error is thrown. */
function looks(
    ...answers: readonly (Look<string> | Error)[]
): WaitOptions<string>["look"] & { readonly count: () => number } {
    let count = 0;
    const look = async (): Promise<Look<string>> => {
        const answer = answers[Math.min(count, answers.length - 1)] ?? { seen: "nothing" };
        count += 1;
        if (answer instanceof Error) throw answer;
        return answer;
    };
    return Object.assign(look, { count: () => count });
}

const wait = (look: WaitOptions<string>["look"], milliseconds = 60_000): Promise<string> =>
    waitFor({ stage: "waiting", host: "10.0.0.3", deadline: Deadline.after(milliseconds), interval: 1, look });

describe("a deadline", () => {
    it("has what is left of its time, and never less than nothing", () => {
        const { remaining } = Deadline.afterSeconds(100);
        assert.ok(remaining > 50_000 && remaining <= 100_000, String(remaining));
        assert.equal(Deadline.after(-5).remaining, 0);
        assert.equal(Deadline.after(0).expired, true);
        assert.equal(Deadline.after(60_000).expired, false);
    });

    it("is shortened and never prolonged by a limit within it", () => {
        assert.ok(Deadline.after(60_000).within(1000).remaining <= 1000);
        assert.ok(Deadline.after(1000).within(60_000).remaining <= 1000);
    });
});

describe("waiting for a state", () => {
    it("ends with what the look that found it answers", async () => {
        const look = looks({ seen: "not yet" }, { seen: "almost" }, { done: "there" });
        assert.equal(await wait(look), "there");
        assert.equal(look.count(), 3);
    });

    it("takes an error that may pass for `not yet`", async () => {
        assert.equal(await wait(looks(refused, { done: "there" })), "there");
    });

    it("ends at once with any other error", async () => {
        const broken = new RefusedError({ stage: "looking", what: "it is another cluster" });
        const look = looks({ seen: "not yet" }, broken);
        await assert.rejects(wait(look), broken);
        assert.equal(look.count(), 2);
        await assert.rejects(wait(looks(new Error("a mistake"))), /a mistake/);
    });

    it("ends at once with a lock that is lost, although the operation may be tried again", async () => {
        const lost = new LockError({ stage: "holding the lock", what: "it is held by somebody else now" });
        assert.equal(lost.retryable, true);
        const look = looks(lost, { done: "there" });
        await assert.rejects(wait(look), lost);
        assert.equal(look.count(), 1);
    });

    it("fails at the deadline with what was seen last, and may be tried again", async () => {
        await assert.rejects(wait(looks({ seen: "a learner" }), 0), (error: Error) => {
            assert.ok(error instanceof TimeoutError && error.retryable);
            assert.equal(error.message, "waiting on 10.0.0.3: gave up waiting; last seen: a learner");
            return true;
        });
    });

    it("keeps what the last look found where the next one is only cut short by the deadline", async () => {
        const cut = new TimeoutError({ stage: "talking over SSH", what: "no channel was opened" });
        let count = 0;
        const deadline = Deadline.after(30);
        const look = async (): Promise<Look<string>> => {
            count += 1;
            if (count === 1) return { seen: "member 6cf1 is a learner" };
            while (!deadline.expired) await new Promise((resolve) => setTimeout(resolve, 1));
            throw cut;
        };
        await assert.rejects(waitFor({ stage: "joining etcd", deadline, interval: 1, look }), {
            message: "joining etcd: gave up waiting; last seen: member 6cf1 is a learner",
        });
    });

    it("keeps it also where looks fail for long, and says how they fail", async () => {
        const told: string[] = [];
        const deadline = Deadline.after(50).heardBy((seen) => told.push(seen));
        const look = looks({ seen: "a learner" }, refused);
        await assert.rejects(waitFor({ stage: "waiting", deadline, interval: 1, maxInterval: 1, look }), {
            message: "waiting: gave up waiting; last seen: a learner; then a look failed: asking: connection refused",
        });
        assert.deepEqual(
            [...new Set(told)],
            ["a learner", "a learner; then a look failed: asking: connection refused"],
        );
    });

    it("says in the end which passing error it met last, and what to do", async () => {
        const options = { stage: "waiting", deadline: Deadline.after(0), advice: "Look there.", look: looks(refused) };
        await assert.rejects(waitFor(options), {
            message: "waiting: gave up waiting; last seen: asking: connection refused\nLook there.",
        });
    });

    it("looks at least once, also when the time is over already", async () => {
        assert.equal(await wait(looks({ done: "there" }), 0), "there");
    });

    it("looks once more when the time is over", async () => {
        const look = looks({ seen: "not yet" }, { done: "there" });
        // Not over before the first look, however slow this machine is; over at the second.
        const deadline = Object.defineProperty(Deadline.after(20), "expired", { get: () => look.count() > 1 });
        assert.equal(await waitFor({ stage: "waiting", deadline, interval: 60_000, look }), "there");
        assert.equal(look.count(), 2);
    });
});
