import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../support/root";
import type { Installer, Sdk } from "./forms";
import type { Toolbox } from "./toolbox";

const SOURCES = join(root, "test", "package", "project");

/** What `pulumi new typescript` writes; ts-node takes it, and checks the types with it. */
const TYPESCRIPT_CONFIG = {
    compilerOptions: {
        strict: true,
        target: "es2020",
        module: "commonjs",
        moduleResolution: "node",
        types: ["node"],
        skipLibCheck: true,
    },
};

/** A project directory with the package in it, and the programs in every language. Answers the directory. */
export async function makeProject(toolbox: Toolbox, installer: Installer, sdk: Sdk): Promise<string> {
    const folder = join(toolbox.folder, "projects", `${installer.replace(" ", "-")}-${sdk}`);
    await writePrograms(folder);
    const own = installer === "npm link" ? {} : { "pulumi-mke": `file:${toolbox.tarball}` };
    const dependencies = { "@pulumi/pulumi": await sdkVersion(toolbox, sdk), ...(await languageTools()), ...own };
    await writeFile(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, dependencies }));
    await INSTALL[installer](toolbox, folder);
    return folder;
}

const INSTALL: Readonly<Record<Installer, (toolbox: Toolbox, folder: string) => Promise<unknown>>> = {
    npm: (toolbox, folder) => npmInstall(toolbox, folder),
    pnpm: (toolbox, folder) => toolbox.pnpm(folder, "install", "--ignore-scripts", "--prefer-offline"),
    yarn: async (toolbox, folder) => {
        const cacheFolder = join(toolbox.folder, "yarn-cache");
        const settings = {
            nodeLinker: "node-modules",
            enableTelemetry: false,
            enableGlobalCache: false,
            // Its default where CI is set refuses to write the first lockfile.
            enableImmutableInstalls: false,
            cacheFolder,
        };
        await writeFile(join(folder, ".yarnrc.yml"), JSON.stringify(settings));
        // Without one of its own, yarn takes a directory for a part of the project above it.
        await writeFile(join(folder, "yarn.lock"), "");
        await toolbox.yarn(folder, "install", "--mode=skip-build");
    },
    "npm link": async (toolbox, folder) => {
        await npmInstall(toolbox, folder);
        await toolbox.npm(folder, "link", "--ignore-scripts", root);
    },
};

/** Build scripts of dependencies are left out everywhere: they would build for the Node.js that installs. */
function npmInstall(toolbox: Toolbox, folder: string): Promise<string> {
    return toolbox.npm(folder, "install", "--ignore-scripts", "--prefer-offline");
}

async function writePrograms(folder: string): Promise<void> {
    for (const [name, type, javascript] of [
        ["commonjs", "commonjs", "program.cjs"],
        ["modules", "module", "program.mjs"],
    ] as const) {
        await mkdir(join(folder, name), { recursive: true });
        await writeFile(join(folder, name, "package.json"), JSON.stringify({ type }));
        for (const file of ["program.ts", javascript]) await cp(join(SOURCES, file), join(folder, name, file));
    }
    for (const file of ["drive.cjs", "witness.cjs"]) await cp(join(SOURCES, file), join(folder, file));
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(TYPESCRIPT_CONFIG));
}

interface Manifest {
    readonly peerDependencies: { readonly "@pulumi/pulumi": string };
    readonly devDependencies: Readonly<Record<string, string>>;
}

async function manifest(): Promise<Manifest> {
    return JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
}

/** The ends of the range that the package itself asks for; npm alone would take one that fits the Node.js it runs on. */
export async function sdkVersion(toolbox: Toolbox, sdk: Sdk): Promise<string> {
    const range = (await manifest()).peerDependencies["@pulumi/pulumi"];
    if (sdk === "newest") return toolbox.newest("@pulumi/pulumi", range);
    const oldest = /^>=(?<version>[\d.]+) /.exec(range)?.groups?.["version"];
    if (oldest === undefined) throw new Error(`no lower end in the range ${range}`);
    return oldest;
}

async function languageTools(): Promise<Record<string, string>> {
    const { devDependencies } = await manifest();
    const own = ["typescript", "@types/node"].map((name) => [name, devDependencies[name] ?? "*"] as const);
    return { ...Object.fromEntries(own), "ts-node": "10", tsx: "4" };
}
