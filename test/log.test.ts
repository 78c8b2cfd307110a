import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type Log, LOG_VARIABLE, levelIn, type LogLevel, prefixedLog } from "../provider/log";
import { nothingToDo, type Outcome, runStage, withWarning } from "../provider/stages/stage";
import { logAt } from "./support/log-level";

const TIME = / after \d+\.\d s$/;

/** Lines of what the action does, at a level, without times. */
async function told(level: LogLevel, action: (log: Log) => Promise<void>): Promise<string[]> {
    const lines: string[] = [];
    await action(prefixedLog("c2", (line) => void lines.push(line.replace(TIME, "")), level));
    return lines;
}

const stage = (log: Log, name: string, outcome?: Outcome): Promise<void> =>
    runStage(log, name, 60, () => Promise.resolve(outcome));

async function operation(log: Log): Promise<void> {
    await stage(log, "pre-flight");
    await stage(log, "labelling for SELinux", nothingToDo("the host has no SELinux"));
    await stage(log, "joining etcd", "voter");
    await stage(log, "cleaning folders", withWarning("could not remove /var/lib/k0s"));
    log.line("took the lock", "quiet");
    await runStage(log, "draining", 60, () => Promise.reject(new Error("stuck"))).catch(() => undefined);
    log.line("its cluster has ended");
}

describe("the level of the log", () => {
    it("that is normal leaves out the stages with nothing to do, whatever they say", async () => {
        assert.deepEqual(await told("normal", operation), [
            "c2: pre-flight … done",
            "c2: joining etcd … voter",
            "c2: cleaning folders … could not remove /var/lib/k0s",
            "c2: took the lock",
            "c2: draining … failed",
            "c2: its cluster has ended",
        ]);
        const words = await told("normal", (log) => stage(log, "copying registry settings", "nothing to copy"));
        assert.deepEqual(words, ["c2: copying registry settings … nothing to copy"], "words do not decide");
    });

    it("that is quiet tells warnings and failures", async () => {
        assert.deepEqual(await told("quiet", operation), [
            "c2: cleaning folders … could not remove /var/lib/k0s",
            "c2: took the lock",
            "c2: draining … failed",
        ]);
    });

    it("that is debug tells all", async () => {
        assert.deepEqual(await told("debug", operation), [
            "c2: pre-flight … done",
            "c2: labelling for SELinux … the host has no SELinux",
            "c2: joining etcd … voter",
            "c2: cleaning folders … could not remove /var/lib/k0s",
            "c2: took the lock",
            "c2: draining … failed",
            "c2: its cluster has ended",
        ]);
    });

    it("leaves no stage without its end whose start was told", async () => {
        const busy = (log: Log): Promise<void> =>
            runStage(log, "copying registry settings", 60, async () => {
                log.line("the host has its own hosts.toml");
                return nothingToDo("nothing to copy");
            });
        assert.deepEqual(await told("normal", busy), [
            "c2: copying registry settings …",
            "c2: the host has its own hosts.toml",
            "c2: copying registry settings … nothing to copy",
        ]);
        assert.deepEqual(await told("quiet", busy), []);
    });

    it("is what the environment says when the log is made, else normal", () => {
        for (const level of ["quiet", "normal", "debug"]) assert.equal(levelIn({ [LOG_VARIABLE]: level }), level);
        assert.equal(levelIn({}), "normal");
        assert.equal(levelIn({ [LOG_VARIABLE]: "" }), "normal");
        assert.equal(levelIn({ [LOG_VARIABLE]: "loud" }), undefined);
        const lines: string[] = [];
        const back = logAt();
        try {
            prefixedLog("c2", (line) => void lines.push(line)).line("a detail", "debug");
        } finally {
            back();
        }
        prefixedLog("c2", (line) => void lines.push(line)).line("another detail", "debug");
        assert.deepEqual(lines, ["c2: a detail"]);
    });

    it("counts as normal where nobody knows the word, which is said once and without the word", () => {
        const lines: string[] = [];
        const back = logAt("hunter2");
        try {
            for (const name of ["c2", "c3"]) {
                const log = prefixedLog(name, (line) => void lines.push(line));
                log.line("a line");
                log.line("a detail", "debug");
            }
        } finally {
            back();
        }
        assert.deepEqual(lines, [
            "c2: PULUMI_MKE_LOG is none of quiet, normal, debug, and counts as normal",
            "c2: a line",
            "c3: a line",
        ]);
    });
});
