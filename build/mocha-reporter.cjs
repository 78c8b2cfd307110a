"use strict";

/** Mocha's list, and after everything else one plain line that scripts can read: `N passed, N failed[, N skipped]`. */
const { reporters, Runner } = require("mocha");

class Summary extends reporters.Spec {
    constructor(runner, options) {
        super(runner, options);
        runner.once(Runner.constants.EVENT_RUN_END, () => {
            const { passes, failures, pending } = runner.stats;
            const skipped = pending > 0 ? `, ${pending} skipped` : "";
            process.stdout.write(`${passes} passed, ${failures} failed${skipped}\n`);
        });
    }
}

module.exports = Summary;
