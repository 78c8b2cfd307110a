/** The ways in which this package is installed, loaded and run. */
export const DIMENSIONS = {
    /** How it comes into a project. */
    installer: ["npm", "pnpm", "yarn", "npm link"],
    /** How the project's program is written and loaded. */
    language: [
        "TypeScript, ts-node",
        "TypeScript, tsx",
        "TypeScript as ES modules, tsx",
        "JavaScript, CommonJS",
        "JavaScript, ES modules",
    ],
    /** Major versions of Node.js. */
    node: ["20", "22", "24"],
    /** Of the SDK, the oldest and the newest that the package may be used with. */
    sdk: ["oldest", "newest"],
} as const;

export type Dimension = keyof typeof DIMENSIONS;
export type Installer = (typeof DIMENSIONS.installer)[number];
export type Language = (typeof DIMENSIONS.language)[number];
export type NodeVersion = (typeof DIMENSIONS.node)[number];
export type Sdk = (typeof DIMENSIONS.sdk)[number];

export interface Form {
    readonly installer: Installer;
    readonly language: Language;
    readonly node: NodeVersion;
    readonly sdk: Sdk;
}

/**
 * Every installer with every language, and the other two dealt out so that any two values of different dimensions meet in
 * some form. By installer and SDK, because forms that agree in both share a project directory.
 */
export const FORMS: readonly Form[] = DIMENSIONS.installer
    .flatMap((installer, i) =>
        DIMENSIONS.language.map((language, j): Form => ({
            installer,
            language,
            node: DIMENSIONS.node[((i + j) % 3) as 0 | 1 | 2],
            sdk: DIMENSIONS.sdk[((i + j) % 2) as 0 | 1],
        })),
    )
    .sort((a, b) => a.installer.localeCompare(b.installer) || a.sdk.localeCompare(b.sdk));

/** How the program is given to Node, from the project directory. */
export const COMMANDS: Readonly<Record<Language, readonly string[]>> = {
    "TypeScript, ts-node": ["--require", "ts-node/register", "drive.cjs", "commonjs/program.ts", "require"],
    "TypeScript, tsx": ["--import", "tsx", "drive.cjs", "commonjs/program.ts", "require"],
    "TypeScript as ES modules, tsx": ["--import", "tsx", "drive.cjs", "modules/program.ts", "import"],
    "JavaScript, CommonJS": ["drive.cjs", "commonjs/program.cjs", "require"],
    "JavaScript, ES modules": ["drive.cjs", "modules/program.mjs", "import"],
};

export function titleOf({ installer, language, node, sdk }: Form): string {
    return `${installer}; ${language}; Node ${node}; ${sdk} SDK`;
}
