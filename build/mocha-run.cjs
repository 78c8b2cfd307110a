"use strict";

/** For the process that runs tests: the only one, or each worker. */
const { Runner, Test } = require("mocha");

const {
    EVENT_HOOK_BEGIN,
    EVENT_HOOK_END,
    EVENT_RUN_END,
    EVENT_TEST_BEGIN,
    EVENT_TEST_FAIL,
    EVENT_TEST_PASS,
    EVENT_TEST_PENDING,
    STATE_STOPPED,
} = Runner.constants;

/**
 * Holds back what is printed while a test or a hook runs, and gives `show` that of what failed, with the hooks after it.
 * Tests that listen to `process.stdout` themselves wrap it. `always`: also between tests, where no list is printed here.
 */
function hush(runner, show, always = false) {
    const { stdout } = process;
    const { write } = stdout;
    let isHolding = always;
    /** From before its first hook to its verdict. */
    let isTesting = false;
    let hasFailed = false;
    let held = [];
    const hushed = (chunk, encoding, done) => {
        if (!isHolding) return write.call(stdout, chunk, encoding, done);
        held.push(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
        const callback = typeof encoding === "function" ? encoding : done;
        if (callback) process.nextTick(callback);
        return true;
    };
    stdout.write = hushed;
    const hold = () => {
        isHolding = true;
    };
    const speak = () => {
        isHolding = always;
        isTesting = false;
    };
    const forget = () => {
        speak();
        held = [];
    };
    const tell = () => {
        speak();
        if (held.length > 0) show(held.join(""));
        held = [];
    };
    runner.on(EVENT_HOOK_BEGIN, hold);
    runner.on(EVENT_HOOK_END, () => {
        if (isTesting) return;
        if (hasFailed) tell();
        else speak();
    });
    runner.on(EVENT_TEST_BEGIN, () => {
        isTesting = true;
        hasFailed = false;
        hold();
    });
    runner.on(EVENT_TEST_PASS, forget);
    runner.on(EVENT_TEST_PENDING, forget);
    runner.on(EVENT_TEST_FAIL, () => {
        hasFailed = true;
        tell();
    });
    runner.on(EVENT_RUN_END, () => {
        forget();
        isHolding = false;
        if (stdout.write === hushed) stdout.write = write;
    });
}

/**
 * Mocha passes over a rejected promise that nobody listens to: here it is a failure, of no test but named after one. Not where
 * somebody else hears of such promises, as Pulumi does while it runs a program.
 */
function failOnRejections(runner) {
    const known = new WeakSet();
    const listener = (reason, promise) => {
        // Mocha's own listener emits it once more.
        if (known.has(promise) || runner.state === STATE_STOPPED) return;
        known.add(promise);
        const own = [listener, runner.unhandled];
        if (process.listeners("unhandledRejection").some((one) => !own.includes(one))) return;
        const title = `a rejection that nobody handled, during ${runner.currentRunnable?.title ?? "no test"}`;
        // Without a body mocha would take it for one that is yet to be written.
        const test = new Test(title, () => undefined);
        test.parent = runner.suite;
        runner.fail(test, reason);
    };
    process.on("unhandledRejection", listener);
}

module.exports = { hush, failOnRejections };
