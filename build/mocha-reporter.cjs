"use strict";

/**
 * Mocha's list, and after everything else one plain line that scripts can read: `N passed, N failed[, N skipped]`. What the
 * code under test prints (a line for each stage of an operation) is shown only of tests that fail.
 */
const { reporters, Runner } = require("mocha");

const {
    EVENT_HOOK_BEGIN,
    EVENT_HOOK_END,
    EVENT_RUN_END,
    EVENT_TEST_BEGIN,
    EVENT_TEST_FAIL,
    EVENT_TEST_PASS,
    EVENT_TEST_PENDING,
} = Runner.constants;

/** Holds back what is printed while a test or a hook runs. Installed once: tests that listen themselves wrap it. */
function hush(runner) {
    const { stdout } = process;
    const print = stdout.write.bind(stdout);
    let isHolding = false;
    let held = [];
    stdout.write = (chunk, encoding, done) => {
        if (!isHolding) return print(chunk, encoding, done);
        held.push(chunk);
        const callback = typeof encoding === "function" ? encoding : done;
        if (callback) process.nextTick(callback);
        return true;
    };
    const hold = () => {
        isHolding = true;
    };
    const speak = () => {
        isHolding = false;
    };
    const forget = () => {
        speak();
        held = [];
    };
    runner.on(EVENT_HOOK_BEGIN, hold);
    runner.on(EVENT_HOOK_END, speak);
    runner.on(EVENT_TEST_BEGIN, hold);
    runner.on(EVENT_TEST_PASS, forget);
    runner.on(EVENT_TEST_PENDING, forget);
    runner.on(EVENT_TEST_FAIL, () => {
        speak();
        for (const chunk of held) print(chunk);
        held = [];
    });
    runner.on(EVENT_RUN_END, forget);
}

class Summary extends reporters.Spec {
    constructor(runner, options) {
        // First, so that the list is printed with nothing held back.
        hush(runner);
        super(runner, options);
        runner.once(EVENT_RUN_END, () => {
            const { passes, failures, pending } = runner.stats;
            const skipped = pending > 0 ? `, ${pending} skipped` : "";
            process.stdout.write(`${passes} passed, ${failures} failed${skipped}\n`);
        });
    }
}

module.exports = Summary;
