"use strict";

/**
 * Mocha's list, and after everything else one plain line that scripts can read: `N passed, N failed[, N skipped]`. What the
 * code under test prints (a line for each stage of an operation) is shown only of tests that fail.
 */
const { reporters, Runner } = require("mocha");
const { spawnSync } = require("node:child_process");
const { relative } = require("node:path");
const { failOnRejections, hush } = require("./mocha-run.cjs");

const { EVENT_RUN_BEGIN, EVENT_RUN_END, STATE_RUNNING } = Runner.constants;

/** Minutes without any file that comes to its end, after which a parallel run is given up: a worker hangs. */
const PATIENCE = 60;

function print(text) {
    process.stdout.write(text);
}

/** Files are run by other processes: says which of them did not come to their end, also where that is for ever. */
function watchWorkers(runner, files) {
    const unfinished = new Set(files);
    const name = () => {
        for (const file of unfinished) print(`did not come to its end: ${relative(process.cwd(), file)}\n`);
    };
    const giveUp = () => {
        name();
        print(`given up after ${PATIENCE} minutes in which no file came to its end\n`);
        summarize(runner.stats, 1);
        // A worker that loops hears of nothing.
        spawnSync("pkill", ["-KILL", "-P", String(process.pid)]);
        process.exit(1);
    };
    const timer = setTimeout(giveUp, PATIENCE * 60_000);
    // Mocha forgets to say so, and then ends the list at the first worker that crashed.
    runner.once(EVENT_RUN_BEGIN, () => (runner.state = STATE_RUNNING));
    runner.workerReporter(require.resolve("./mocha-worker-reporter.cjs"));
    runner.on("printed", ({ text }) => print(text));
    runner.on("file end", ({ files: ended }) => {
        for (const file of ended) unfinished.delete(file);
        timer.refresh();
    });
    runner.once(EVENT_RUN_END, () => {
        clearTimeout(timer);
        name();
    });
}

/** `more`: failures besides those that mocha counted. */
function summarize({ passes, failures, pending }, more = 0) {
    const skipped = pending > 0 ? `, ${pending} skipped` : "";
    print(`${passes} passed, ${failures + more} failed${skipped}\n`);
}

class Summary extends reporters.Spec {
    constructor(runner, options) {
        const isParallel = runner.isParallelMode();
        // First, so that the list is printed with nothing held back.
        if (!isParallel) hush(runner, print);
        super(runner, options);
        if (isParallel) watchWorkers(runner, options.files);
        else failOnRejections(runner);
        runner.once(EVENT_RUN_END, () => summarize(runner.stats));
    }
}

module.exports = Summary;
