import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { RunError } from "@pulumi/pulumi";
import { it } from "mocha";
import { MkeWorkerNode } from "pulumi-mke";
import { root } from "../support/root";
import { describeEngine } from "./scene";

/** What Pulumi prints at the end, without the lines that it showed meanwhile. */
function summaryOf(output: readonly string[]): string {
    return output.join("").split("\nDiagnostics:\n").at(-1) ?? "";
}

function timesIn(text: string, part: string): number {
    return text.split(part).length - 1;
}

describeEngine("an error that is expected", (start) => {
    it("is printed once and without a stack where a removal is refused, with a runbook that is there", async () => {
        const { engine, program, sim } = await start(["c2"]);
        const cluster = { controllers: [{ host: sim.find("c1").address }], minControllers: 2 };
        await engine.up(program(["c2"], [], { cluster }));
        engine.output.length = 0;
        await assert.rejects(engine.up(program([])));
        const summary = summaryOf(engine.output);
        assert.equal(timesIn(summary, "deciding on 10.77.0.12: "), 1, summary);
        assert.equal(timesIn(summary, "RefusedError"), 0, summary);
        assert.doesNotMatch(summary, /^\s+at /m);
        const [, path = ""] = /Runbook: ([^#\s]+)#quorum/.exec(summary) ?? [];
        assert.ok(existsSync(join(root, path)), path);
    });

    it("is printed as Pulumi prints its own where the program is wrong: the Automation API does it twice, without a stack", async () => {
        const { engine } = await start(["w1"]);
        const args = { host: "10.77.0.12", cluster: { controllers: [{ host: "10.77.0.11" }] } };
        const shown = async (program: () => Promise<void>, part: string): Promise<number> => {
            engine.output.length = 0;
            await assert.rejects(engine.preview(program));
            const summary = summaryOf(engine.output);
            assert.doesNotMatch(summary, /^\s+at |details:|exception/m);
            return timesIn(summary, part);
        };
        const wrong = (): Promise<void> => {
            new MkeWorkerNode("w1", args, { import: "w1" });
            return Promise.resolve();
        };
        const pulumis = (): Promise<void> => Promise.reject(new RunError("a mistake"));
        assert.equal(await shown(wrong, "dynamic resources cannot be imported"), await shown(pulumis, "a mistake"));
        await shown(wrong, "docs/guides/adopting-a-cluster.md");
    });
});
