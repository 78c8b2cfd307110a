import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "../support/root";
import { DIMENSIONS, type NodeVersion } from "./forms";

const run = promisify(execFile);
const LIMIT = 600_000;

/** What forms are made with: Node.js in several versions, package managers, and the packed package; in a folder that goes away. */
export class Toolbox {
    private constructor(
        readonly folder: string,
        /** What `npm publish` would publish. */
        readonly tarball: string,
    ) {}

    static async open(): Promise<Toolbox> {
        const folder = await mkdtemp(join(tmpdir(), "pulumi-mke-package-"));
        try {
            await Promise.all(
                ["tools", "projects", "global/lib"].map((name) => mkdir(join(folder, name), { recursive: true })),
            );
            await installTools(join(folder, "tools"));
            return new Toolbox(folder, await pack(folder));
        } catch (error) {
            await rm(folder, { recursive: true, force: true });
            throw error;
        }
    }

    node(version: NodeVersion): string {
        return join(this.folder, "tools", "node_modules", `node${version}`, "bin", "node");
    }

    /** The newest release in that range. */
    async newest(name: string, range: string): Promise<string> {
        const output = await this.npm(this.folder, "view", `${name}@${range}`, "version", "--json");
        const versions = [JSON.parse(output) as string | string[]].flat();
        return versions.sort((a, b) => b.localeCompare(a, undefined, { numeric: true }))[0] ?? range;
    }

    async npm(folder: string, ...args: string[]): Promise<string> {
        // A link goes by way of npm's global folder; the machine's own is left alone.
        const env = { ...process.env, npm_config_prefix: join(this.folder, "global") };
        return command("npm", args, folder, env);
    }

    pnpm(folder: string, ...args: string[]): Promise<string> {
        return this.script("pnpm/bin/pnpm.cjs", [...args, "--store-dir", join(this.folder, "pnpm-store")], folder);
    }

    yarn(folder: string, ...args: string[]): Promise<string> {
        return this.script("@yarnpkg/cli-dist/bin/yarn.js", args, folder);
    }

    close(): Promise<void> {
        return rm(this.folder, { recursive: true, force: true });
    }

    private script(path: string, args: string[], folder: string): Promise<string> {
        return command(
            process.execPath,
            [join(this.folder, "tools", "node_modules", path), ...args],
            folder,
            process.env,
        );
    }
}

/** The npm package `node` is Node.js itself, brought by its install script. */
async function installTools(folder: string): Promise<void> {
    const nodes = DIMENSIONS.node.map((version) => `node${version}@npm:node@${version}`);
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
    await command(
        "npm",
        ["install", "--prefer-offline", "pnpm@10", "@yarnpkg/cli-dist@4", ...nodes],
        folder,
        process.env,
    );
}

/** `dist` is fresh: `npm run test:package` builds it. */
async function pack(folder: string): Promise<string> {
    const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const output = await command("npm", args, root, process.env);
    const [packed] = JSON.parse(output) as { filename: string }[];
    if (packed === undefined) throw new Error(`npm pack answered nothing: ${output}`);
    return join(folder, packed.filename);
}

/** Answers the standard output; fails with everything that was printed. */
export async function command(
    program: string,
    args: readonly string[],
    folder: string,
    env: NodeJS.ProcessEnv,
): Promise<string> {
    try {
        const { stdout } = await run(program, args, { cwd: folder, env, timeout: LIMIT, maxBuffer: 2 ** 26 });
        return stdout;
    } catch (error) {
        const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
        throw new Error(`${program} ${args.join(" ")}:\n${stdout}${stderr}`, { cause: error });
    }
}

/** PATH with that program's folder first. */
export function pathWith(...programs: readonly string[]): string {
    return [...programs.map((program) => dirname(program)), process.env["PATH"] ?? ""].join(delimiter);
}
