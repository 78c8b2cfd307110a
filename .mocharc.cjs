"use strict";

// Mocha adds files named on its command line to `spec`; with this a single file can be run alone.
const named = process.argv.slice(2).some((argument) => argument.startsWith("dist/"));

module.exports = {
    ...(named ? {} : { spec: ["dist/test/**/*.test.js"] }),
    ignore: ["dist/test/lab/**", "dist/test/package/**"],
    reporter: "build/mocha-reporter.cjs",
    timeout: 60_000,
    "enable-source-maps": true,
};
