import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import ts from "typescript";
import { root } from "../support/root";

/** A program of a guide, as the page prints it. `number`: which one of the page, from 1. */
export function guideProgram(page: string, number: number): string {
    const text = readFileSync(join(root, "docs", "guides", `${page}.md`), "utf8");
    const program = [...text.matchAll(/^```typescript\n(.*?)^```$/gms)][number - 1]?.[1];
    if (program === undefined) throw new Error(`${page} has no program ${number}`);
    return program;
}

/** Runs it, with these modules in place of those that it imports. */
export function asProgram(source: string, modules: Readonly<Record<string, unknown>>): PulumiFn {
    const options = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
    const { outputText } = ts.transpileModule(source, { compilerOptions: options });
    const load = createRequire(__filename);
    const run = compileFunction(outputText, ["require", "exports"]) as (require: unknown, exports: object) => void;
    return () => {
        run((name: string) => modules[name] ?? (load(name) as unknown), {});
        return Promise.resolve();
    };
}
