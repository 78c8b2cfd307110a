"use strict";

// Loaded into every Node process of a run by NODE_OPTIONS: notes what the dynamic provider runs on, and with which package.
const { appendFileSync, realpathSync } = require("node:fs");

const [, script = ""] = process.argv;
if (script.replaceAll("\\", "/").includes("/cmd/dynamic-provider")) {
    const resolved = require.resolve("pulumi-mke/provider", { paths: [process.cwd()] });
    const seen = { node: process.version, script, provider: realpathSync(resolved) };
    appendFileSync(process.env.PULUMI_MKE_WITNESS, `${JSON.stringify(seen)}\n`);
}
