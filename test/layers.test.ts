import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, it } from "mocha";

const PROVIDER = join(dirname(__dirname), "..", "provider");

/** One import of a source file, except those of types alone. */
interface Use {
    readonly from: string;
    /** Path of a file of the provider without its ending, or the name of a module. */
    readonly of: string;
}

const FILES = readdirSync(PROVIDER, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => name.replaceAll("\\", "/").replace(/\.ts$/, ""));
const USES = FILES.flatMap((from) => usesOf(from));

/** What the code of each folder may run of others; `.` are the files beside the folders, which all may use. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
    ".": [],
    facts: ["adapters"],
    decide: ["facts"],
    adapters: ["facts"],
    lock: ["adapters"],
    stages: ["decide", "facts", "adapters", "lock"],
    pipelines: ["stages", "decide", "facts", "lock"],
    resource: ["pipelines", "stages", "decide", "facts", "adapters", "lock"],
};

describe("the folders of the provider", () => {
    it("use each other one way, as docs/architecture.md has it", () => {
        assert.deepEqual(USES.filter(isForbidden).map(inWords), []);
    });

    it("hold no circle of files", () => {
        const cleared = new Set<string>();
        const circleFrom = (file: string, way: readonly string[]): readonly string[] | undefined => {
            if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
            if (cleared.has(file)) return undefined;
            const next = USES.filter(({ from }) => from === file).map(({ of }) => of);
            const circle = next.map((one) => circleFrom(one, [...way, file])).find((one) => one !== undefined);
            cleared.add(file);
            return circle;
        };
        assert.deepEqual(
            FILES.map((file) => circleFrom(file, [])).find((circle) => circle !== undefined),
            undefined,
        );
    });

    it("know nothing of Pulumi, and other packages only in the adapters", () => {
        const packages = USES.filter(({ of }) => !FILES.includes(of) && !of.startsWith("node:"));
        assert.deepEqual(packages.filter(({ from }) => folderOf(from) !== "adapters").map(inWords), []);
        assert.deepEqual(packages.filter(({ of }) => of.startsWith("@pulumi/")).map(inWords), []);
    });
});

function isForbidden({ from, of }: Use): boolean {
    const [user, used] = [folderOf(from), folderOf(of)];
    if (!FILES.includes(of) || used === "." || used === user) return false;
    return MAY_USE[user]?.includes(used) !== true;
}

function folderOf(file: string): string {
    return file.includes("/") ? (file.split("/")[0] ?? "") : ".";
}

function inWords({ from, of }: Use): string {
    return `${from} uses ${of}`;
}

function usesOf(from: string): Use[] {
    const text = readFileSync(join(PROVIDER, `${from}.ts`), "utf8");
    const statements = text.matchAll(/^(?:import|export)\s+(?<names>[^;"]*?)\s*from "(?<module>[^"]+)";/gm);
    return [...statements].flatMap(({ groups }) =>
        isOfTypes(groups?.["names"] ?? "") ? [] : [{ from, of: resolved(from, groups?.["module"] ?? "") }],
    );
}

function isOfTypes(names: string): boolean {
    if (/^type\b/.test(names)) return true;
    const listed = /^\{(?<names>[^}]*)\}$/.exec(names)?.groups?.["names"];
    const each = (listed ?? "").split(",").map((name) => name.trim());
    return listed !== undefined && each.filter((name) => name !== "").every((name) => name.startsWith("type "));
}

function resolved(from: string, module: string): string {
    if (!module.startsWith(".")) return module;
    const path = posix.join(posix.dirname(from), module);
    return FILES.includes(path) ? path : `${path}/index`;
}
