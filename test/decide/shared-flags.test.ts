import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { differingFlags, sharedFlags } from "../../provider/decide/shared-flags";

const HELPER = [
    "controller",
    "--config=/etc/k0s/k0s.yaml",
    "--data-dir=/data",
    "--enable-worker=true",
    "--no-taints=true",
    "--enable-dynamic-config=true",
    "--disable-components=metrics-server,helm",
    "--feature-gates=IPv6SingleStack=true",
    "--enable-metrics-scraper",
    "--profile=big",
];
const handedOn = (installFlags: readonly string[] = [], helperArgs: readonly string[] = HELPER): string[] =>
    sharedFlags({ helperArgs, installFlags, role: "controller" });

describe("flags that all controllers share", () => {
    it("go from the helper to a joining controller, and no others", () => {
        assert.deepEqual(handedOn(), [
            "--enable-dynamic-config",
            "--disable-components=metrics-server,helm",
            "--feature-gates=IPv6SingleStack=true",
            "--enable-metrics-scraper",
        ]);
        assert.deepEqual(sharedFlags({ helperArgs: HELPER, installFlags: [], role: "worker" }), []);
    });

    it("are the program's where it names them", () => {
        const own = handedOn(["--disable-components=helm", "--enable-dynamic-config=false"]);
        assert.deepEqual(own, ["--feature-gates=IPv6SingleStack=true", "--enable-metrics-scraper"]);
    });

    it("are also found in two words, or given twice", () => {
        const args = ["controller", "--disable-components", "helm", "--disable-components=metrics-server"];
        assert.deepEqual(handedOn([], args), ["--disable-components=helm", "--disable-components=metrics-server"]);
    });

    it("differ by what they mean, and not where the program wants them to", () => {
        const differ = (own: readonly string[], installFlags: readonly string[] = []): string[] =>
            differingFlags(own, { helperArgs: HELPER, installFlags });
        const alike = [
            ...HELPER.slice(0, 5),
            "--enable-dynamic-config",
            "--disable-components=helm",
            ...HELPER.slice(7),
        ];
        assert.deepEqual(differ([...alike, "--disable-components=metrics-server"]), []);
        assert.deepEqual(differ(["controller", "--enable-dynamic-config=false"]), [
            "--enable-dynamic-config",
            "--feature-gates",
            "--disable-components",
            "--enable-metrics-scraper",
        ]);
        assert.deepEqual(differ(alike, ["--disable-components=helm"]), []);
    });
});
