import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline, waitFor } from "../provider/deadline";
import { silentLog } from "../provider/log";
import { seldom, tellingProgress } from "../provider/progress";

const soon = (): Deadline => Deadline.afterSeconds(60);

/** A log that lets a test wait for its lines. */
function listening(): { readonly log: { line(text: string): void }; readonly next: () => Promise<string> } {
    const waiting: ((line: string) => void)[] = [];
    return {
        log: { line: (text) => waiting.splice(0).forEach((hear) => hear(text)) },
        next: () => new Promise((resolve) => waiting.push(resolve)),
    };
}

describe("the progress of a long wait", () => {
    it("is told again and again, with what was seen last, until it ends", async () => {
        const { log, next } = listening();
        let state = "no member at its address yet";
        let isOver = false;
        const wait = tellingProgress(
            log,
            "joining etcd",
            soon(),
            (deadline) =>
                waitFor<string>({
                    stage: "joining etcd",
                    deadline,
                    interval: 1,
                    maxInterval: 1,
                    look: async () => (isOver ? { done: "voter" } : { seen: state }),
                }),
            20,
        );
        assert.match(await next(), /^joining etcd … \d+ s so far: no member at its address yet$/);
        state = "member f03 is a learner\nand more";
        const told: string[] = [];
        while (told.at(-1)?.includes("learner") !== true) told.push(await next());
        assert.match(told.at(-1) ?? "", /^joining etcd … \d+ s so far: member f03 is a learner$/);
        isOver = true;
        assert.equal(await wait, "voter");
    });

    it("is told where nothing can be seen, such as a copy that runs", async () => {
        const { log, next } = listening();
        const line = next();
        await tellingProgress(log, "staging k0s", soon(), () => line, 5);
        assert.match(await line, /^staging k0s … \d+ s so far$/);
    });

    it("is not told of what is over soon, nor after a failure", async () => {
        const lines: string[] = [];
        const log = { line: (text: string): void => void lines.push(text) };
        assert.equal(await tellingProgress(log, "stopping k0s", soon(), () => Promise.resolve("done"), 1), "done");
        await assert.rejects(
            tellingProgress(log, "stopping k0s", soon(), () => Promise.reject(new Error("broken")), 1),
            /broken/,
        );
        // A timer that was left would be heard before this one.
        await tellingProgress(silentLog, "waiting", soon(), () => new Promise((resolve) => setTimeout(resolve, 5)));
        assert.deepEqual(lines, []);
    });

    it("reaches those who wait with a part of the time", async () => {
        const { log, next } = listening();
        const line = next();
        await tellingProgress(
            log,
            "leaving etcd",
            soon(),
            async (deadline) => {
                deadline.within(1000).tell("member f03 is still in etcd");
                await line;
            },
            5,
        );
        assert.match(await line, /^leaving etcd … \d+ s so far: member f03 is still in etcd$/);
    });
});

describe("lines about a wait that looks again and again", () => {
    it("come at once and then more and more seldom, down to one a minute", () => {
        let now = 0;
        const isTime = seldom(() => now);
        const due = Array.from({ length: 300 }, (_, second) => second).filter((second) => {
            now = second * 1000;
            return isTime();
        });
        assert.deepEqual(due, [0, 10, 30, 70, 130, 190, 250]);
    });
});
