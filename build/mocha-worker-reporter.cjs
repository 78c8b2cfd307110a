"use strict";

/**
 * What a worker of a parallel run reports to the process that started it, besides what mocha's own reporter does: what was
 * printed by tests that failed (`printed`), and that a file came to its end (`file end`).
 */
const ParallelBuffered = require("mocha/lib/nodejs/reporters/parallel-buffered");
const { SerializableEvent } = require("mocha/lib/nodejs/serializer");
const { failOnRejections, hush } = require("./mocha-run.cjs");

class WorkerReporter extends ParallelBuffered {
    constructor(runner, options) {
        // First, so that the text comes before the failure that it belongs to.
        hush(runner, (text) => this.tell("printed", { text }), true);
        super(runner, options);
        this.files = options.files;
        failOnRejections(runner);
    }

    done(failures, callback) {
        this.tell("file end", { files: this.files });
        super.done(failures, callback);
    }

    tell(name, data) {
        this.events.push(SerializableEvent.create(name, data));
    }
}

module.exports = WorkerReporter;
