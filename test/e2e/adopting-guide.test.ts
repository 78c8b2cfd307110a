import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import { it } from "mocha";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import ts from "typescript";
import { RESOURCES } from "../sim";
import { root } from "../support/root";
import { describeEngine, type Scene, writesIn } from "./scene";

const GUIDE = readFileSync(join(root, "docs", "guides", "adopting-a-cluster.md"), "utf8");
const CONTROLLERS = ["10.0.1.10", "10.0.1.11", "10.0.1.12"];
const WORKERS = ["10.0.2.10", "10.0.2.11"];
const LAST = "worker-10.0.2.11";

describeEngine("docs/guides/adopting-a-cluster.md", (start) => {
    it("adopts with its program, and gives a node back without touching it", async () => {
        const scene = await start([]);
        const { sim, engine } = scene;
        settle(scene);
        const clusterId = sim.cluster.store.get(RESOURCES.namespaces, "kube-system")?.metadata.uid ?? "";
        await engine.configure({ "mke:clusterId": clusterId, "mke:privateKey": sim.privateKey });
        await engine.up(programOf(scene));
        const outputs = await engine.outputs();
        assert.deepEqual(
            writesIn(sim).sort(),
            [...CONTROLLERS, ...WORKERS].map((address) => `${nameOf(address)}: write-file`),
        );
        const summary = outputs["summary"]?.value as { readonly status: string }[];
        assert.deepEqual(
            summary.map(({ status }) => status),
            Array.from(summary, () => "ready"),
        );
        const began = sim.events.length;
        assert.deepEqual((await engine.up(programOf(scene))).changes, { same: 6 });
        assert.deepEqual(await engine.refresh(), { same: 6 });
        const urn = await engine.urnOf(LAST);
        await engine.command("state", "unprotect", urn, "--yes");
        await engine.command("state", "delete", urn, "--yes");
        const shorter = programOf(scene, (text) => text.replace(', "10.0.2.11"', ""));
        assert.deepEqual((await engine.up(shorter)).changes, { same: 5 });
        assert.deepEqual(writesIn(sim, began), []);
        assert.equal(sim.find(nameOf("10.0.2.11")).units.installed?.active, "active");
    });
});

function settle({ sim }: Scene): void {
    for (const address of CONTROLLERS) {
        sim.host(nameOf(address), { address });
        sim.addSettled(nameOf(address), "controller+worker");
    }
    for (const address of WORKERS) {
        sim.host(nameOf(address), { address });
        sim.addSettled(nameOf(address), "worker");
    }
}

function nameOf(address: string): string {
    return `host-${address.split(".").slice(2).join("-")}`;
}

/** The program of the page; its machines can be reached only through the simulation's bastion. */
function programOf({ sim }: Scene, change: (text: string) => string = (text) => text): PulumiFn {
    const [, text = ""] = /^```typescript\n(.*?)^```$/ms.exec(GUIDE) ?? [];
    const changed = change(text.replace('{ user: "root",', `{ proxy: ${JSON.stringify(sim.bastion)}, user: "root",`));
    assert.notEqual(changed, text);
    const { outputText } = ts.transpileModule(changed, { compilerOptions: { module: ts.ModuleKind.CommonJS } });
    return () => {
        const exports: Record<string, unknown> = {};
        const run = compileFunction(outputText, ["require", "exports"]) as (load: NodeJS.Require, into: object) => void;
        run(createRequire(__filename), exports);
        return Promise.resolve(exports);
    };
}
