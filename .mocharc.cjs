"use strict";

const { availableParallelism } = require("node:os");
const { folders } = require("./test/may-be-skipped.json");

// Mocha adds files named on its command line to `spec`; with this they can be run alone, one after the other.
const named = process.argv.slice(2).some((argument) => argument.startsWith("dist/"));

// One worker for each core, but no more than four: a container often sees cores that it may not use. The longest files first,
// so that no worker is left with one of them in the end. A file that two patterns name would run twice.
const everything = {
    spec: [
        "dist/test/interrupted/*.test.js",
        "dist/test/{states,e2e}/*.test.js",
        "dist/test/!(interrupted|states|e2e)/**/*.test.js",
        "dist/test/*.test.js",
    ],
    parallel: true,
    jobs: Math.min(availableParallelism(), 4),
};

module.exports = {
    ...(named ? {} : everything),
    require: ["./dist/test/support/root-hooks.js"],
    ignore: Object.keys(folders).map((folder) => `dist/test/${folder}/**`),
    reporter: "build/mocha-reporter.cjs",
    // Nothing here hangs by being slow: a test that takes 20 s on a busy machine must not fail on one that is five times slower.
    timeout: 180_000,
    "enable-source-maps": true,
};
