"use strict";

const { availableParallelism } = require("node:os");

// Mocha adds files named on its command line to `spec`; with this a single file can be run alone.
const named = process.argv.slice(2).some((argument) => argument.startsWith("dist/"));

// Each file in a process of its own kind of worker, the longest first, so that no core is left with one of them at the end.
const everything = {
    spec: ["dist/test/interrupted/*.test.js", "dist/test/{states,e2e}/*.test.js", "dist/test/**/*.test.js"],
    parallel: true,
    jobs: availableParallelism(),
};

module.exports = {
    ...(named ? {} : everything),
    ignore: ["dist/test/lab/**", "dist/test/package/**"],
    reporter: "build/mocha-reporter.cjs",
    timeout: 60_000,
    "enable-source-maps": true,
};
