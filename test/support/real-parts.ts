import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "mocha";
import { findPulumi } from "./find-pulumi";
import { ENTER } from "./own-mounts";
import { findProgram, isExecutable } from "./program";
import { root } from "./root";

const inLabOrPath = (name: string) => (): boolean => findProgram(name) !== undefined;
const at = (path: string) => (): boolean => isExecutable(path);
const isRoot = (): boolean => process.getuid?.() === 0;

/** What tests use of the machine they run on, besides Node.js, and how to get it. */
const PARTS = {
    root: [isRoot, "run the tests as root"],
    "mount namespaces": [hasMountNamespaces, "run the tests as root"],
    sshd: [at("/usr/sbin/sshd"), "apt-get install openssh-server"],
    "ssh-agent": [at("/usr/bin/ssh-agent"), "apt-get install openssh-client"],
    sudo: [at("/usr/bin/sudo"), "apt-get install sudo"],
    useradd: [at("/usr/sbin/useradd"), "apt-get install passwd"],
    openssl: [inLabOrPath("openssl"), "apt-get install openssl"],
    curl: [inLabOrPath("curl"), "apt-get install curl"],
    script: [inLabOrPath("script"), "apt-get install bsdutils"],
    age: [inLabOrPath("age"), "apt-get install age"],
    jq: [inLabOrPath("jq"), "apt-get install jq"],
    bash: [inLabOrPath("bash"), "apt-get install bash"],
    dash: [inLabOrPath("dash"), "apt-get install dash"],
    busybox: [inLabOrPath("busybox"), "apt-get install busybox"],
    fish: [inLabOrPath("fish"), "apt-get install fish"],
    tcsh: [inLabOrPath("tcsh"), "apt-get install tcsh"],
    etcd: [inLabOrPath("etcd"), "test/lab/components.sh, and its folder in LAB_BIN"],
    "kube-apiserver": [inLabOrPath("kube-apiserver"), "test/lab/components.sh, and its folder in LAB_BIN"],
    pulumi: [() => findPulumi() !== undefined, "https://www.pulumi.com/docs/install"],
    "pulumi-language-nodejs": [hasLanguageHost, "https://www.pulumi.com/docs/install"],
    registry: [inLabOrPath("registry"), "Docker's registry, its folder in LAB_BIN"],
} as const satisfies Readonly<Record<string, readonly [isThere: () => boolean, way: string]>>;

export type RealPart = keyof typeof PARTS;

/** Parts without which tests may be left out everywhere, each with the reason. */
const MAY_BE_SKIPPED: ReadonlyMap<string, string> = new Map(
    Object.entries((JSON.parse(readFileSync(join(root, "test/may-be-skipped.json"), "utf8")) as Skippable).parts),
);

interface Skippable {
    readonly parts: Readonly<Record<string, string>>;
}

/** `etcd is missing (…)`; undefined where they are all there. */
export function whyNot(...parts: readonly RealPart[]): string | undefined {
    const missing = parts.filter((part) => !isThere(part)).map((part) => `${part} (${PARTS[part][1]})`);
    return missing.length === 0 ? undefined : `missing here: ${missing.join(", ")}`;
}

/** For a hook or a test: leaves it out without these parts. Where CI is set it fails instead, except for what may be skipped. */
export function skipWithout(context: Context, ...parts: readonly RealPart[]): void {
    const why = whyNot(...parts);
    if (why === undefined) return;
    const needed = parts.filter((part) => !MAY_BE_SKIPPED.has(part));
    if (isCi() && whyNot(...needed) !== undefined) throw new Error(why);
    console.log(`    skipped: ${why}`);
    context.skip();
}

/** What is missing for a run in which nothing else may be skipped. */
export function missingInCi(isPresent: (part: RealPart) => boolean = isThere): string | undefined {
    const parts = (Object.keys(PARTS) as RealPart[]).filter((part) => !MAY_BE_SKIPPED.has(part) && !isPresent(part));
    if (parts.length === 0) return undefined;
    return `CI is set, and tests cannot run without: ${parts.map((part) => `${part} (${PARTS[part][1]})`).join(", ")}`;
}

export function isCi(): boolean {
    return !["", "0", "false", undefined].includes(process.env["CI"]);
}

/** Looked for once in a process. */
const found = new Map<RealPart, boolean>();

function isThere(part: RealPart): boolean {
    const known = found.get(part) ?? PARTS[part][0]();
    found.set(part, known);
    return known;
}

function hasMountNamespaces(): boolean {
    return spawnSync("unshare", ["-m", "sh", "-c", ENTER]).status === 0;
}

/** The engine looks for it beside the CLI as well. */
function hasLanguageHost(): boolean {
    const name = "pulumi-language-nodejs";
    const pulumi = findPulumi();
    return findProgram(name) !== undefined || (pulumi !== undefined && existsSync(join(pulumi, "..", name)));
}
