import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { ApiError, CommandError, ConnectionError, HostKeyError, InputError, LockError } from "../provider/errors";
import { MkeError, messageOf, RefusedError, TimeoutError } from "../provider/errors";

const details = { stage: "joining etcd", host: "10.0.0.3", what: "k0s does not stay up" };

describe("an error's message", () => {
    it("says stage, host, what failed and the exit code, then the output, then what to do", () => {
        const error = new CommandError({ ...details, exitCode: 2, output: "one\ntwo\n", advice: "Do this." });
        assert.equal(error.message, "joining etcd on 10.0.0.3: k0s does not stay up (exit 2)\n  one\n  two\nDo this.");
    });

    it("leaves out what there is not", () => {
        assert.equal(new InputError({ stage: "checking", what: "no host" }).message, "checking: no host");
    });

    it("keeps the last twelve lines of output that say something", () => {
        const output = [...Array(20).keys()].map((number) => `line ${number}  \n\n`).join("");
        const lines = new CommandError({ ...details, output }).message.split("\n").slice(1);
        assert.equal(lines.length, 12);
        assert.deepEqual([lines[0], lines.at(-1)], ["  line 8", "  line 19"]);
    });

    it("shows the exit code 0 as well", () => {
        assert.match(new CommandError({ ...details, exitCode: 0 }).message, /\(exit 0\)/);
    });

    it("names the section of the runbook after the advice", () => {
        const error = new RefusedError({ ...details, advice: "Mend it.", topic: "ghost-member" });
        assert.equal(error.topic, "ghost-member");
        assert.match(error.message, /\nMend it\.\nRunbook: docs\/runbook\.md#ghost-member$/);
        assert.match(
            new RefusedError({ ...details, topic: "quorum" }).message,
            /up\nRunbook: docs\/runbook\.md#quorum$/,
        );
    });

    it("is found in whatever was thrown", () => {
        assert.equal(messageOf(new Error("broken")), "broken");
        assert.equal(messageOf("broken"), "broken");
    });
});

describe("whether the same step may succeed later", () => {
    it("is a property of the error", () => {
        const retryable = [
            new InputError(details),
            new RefusedError(details),
            new ConnectionError(details),
            new HostKeyError(details),
            new CommandError(details),
            new ApiError(details),
            new TimeoutError(details),
            new LockError(details),
        ].map((error) => [error.name, error.retryable]);
        assert.deepEqual(Object.fromEntries(retryable), {
            InputError: false,
            RefusedError: false,
            ConnectionError: true,
            HostKeyError: false,
            CommandError: false,
            ApiError: false,
            TimeoutError: true,
            LockError: true,
        });
    });

    it("may be said where the error is made", () => {
        assert.equal(new ConnectionError({ ...details, retryable: false }).retryable, false);
        assert.equal(new CommandError({ ...details, retryable: true }).retryable, true);
        assert.equal(new ApiError({ ...details, retryable: true, code: 500 }).retryable, true);
    });

    it("is never true of another host key, whatever is said", () => {
        const said = { ...details, retryable: true };
        assert.equal(new HostKeyError(said).retryable, false);
        assert.ok(new HostKeyError(said) instanceof ConnectionError && new HostKeyError(said) instanceof MkeError);
    });

    it("goes with the cause and the API's code", () => {
        const cause = new Error("socket hang up");
        const error = new ApiError({ ...details, code: 409, cause });
        assert.equal(error.cause, cause);
        assert.equal(error.code, 409);
    });
});
