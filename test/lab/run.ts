/** `npm run test:lab [-- FILE…]`: the scenes on real machines, once for each k0s program. */
import { execFileSync, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { type Era, eraOf } from "../../provider/decide/era";
import { findPulumi } from "../support/find-pulumi";

const ERAS: readonly Era[] = ["A", "B", "C"];

interface Run {
    readonly version: string;
    readonly passed: boolean;
}

/** Of this folder, all or those whose names begin as the arguments say. */
function testFiles(): string[] {
    const wanted = process.argv.slice(2);
    const files = readdirSync(__dirname).filter((name) => name.endsWith(".test.js"));
    const chosen = files.filter((name) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)));
    return chosen.sort().map((name) => join(__dirname, name));
}

function listIn(variable: string): string[] {
    return (process.env[variable] ?? "").split(delimiter).filter((path) => path !== "");
}

async function runSuite(binary: string, programs: string | undefined): Promise<Run> {
    const version = execFileSync(binary, ["version"], { encoding: "utf8" }).trim();
    const mocha = createRequire(__filename).resolve("mocha/bin/mocha.js");
    const args = [mocha, "--no-config", "--bail", "--enable-source-maps", ...testFiles()];
    const env = { ...process.env, K0S_BINARY: binary, ...(programs !== undefined && { LAB_BIN: programs }) };
    const child = spawn(process.execPath, args, { stdio: "inherit", env });
    const passed = await new Promise<boolean>((resolve, reject) => {
        child.once("error", reject);
        child.once("exit", (code) => resolve(code === 0));
    });
    return { version, passed };
}

/** Joins and leaves work differently in each era of k0s; what was not tried is said. */
function summary(runs: readonly Run[]): string[] {
    return ERAS.flatMap((era) => {
        const own = runs.filter(({ version }) => eraOf(version) === era);
        if (own.length === 0) return [`lab: era ${era} was not run: no k0s of it was given`];
        return own.map(({ version, passed }) => `lab: era ${era}: k0s ${version} ${passed ? "passed" : "FAILED"}`);
    });
}

async function main(): Promise<void> {
    const several = listIn("K0S_BINARIES");
    const binaries = several.length > 0 ? several : listIn("K0S_BINARY");
    if (binaries.length === 0) {
        console.log("lab: skipped, K0S_BINARY does not name a k0s binary");
        return;
    }
    if (findPulumi() === undefined) {
        console.log("lab: skipped, there is no Pulumi CLI on PATH or in ~/.pulumi");
        return;
    }
    const programs = listIn("LAB_BIN");
    const runs: Run[] = [];
    for (const [index, binary] of binaries.entries()) {
        runs.push(await runSuite(binary, programs[index] ?? programs[0]));
    }
    for (const line of summary(runs)) console.log(line);
    if (runs.some(({ passed }) => !passed)) process.exitCode = 1;
}

void main();
