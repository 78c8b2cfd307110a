import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/root";

/** README and the guides: what a person reads who wants to do something. */
export function pages(): readonly string[] {
    const guides = readdirSync(join(root, "docs", "guides")).filter((name) => name.endsWith(".md"));
    return ["README.md", ...guides.sort().map((name) => `docs/guides/${name}`)];
}

/** Of a page, blocks of that language, as they are printed. */
export function blocksOf(page: string, language: RegExp): readonly string[] {
    const text = readFileSync(join(root, page), "utf8");
    const blocks = [...text.matchAll(/^```(?<language>\w+)\n(?<content>.*?)^```$/gms)];
    return blocks.flatMap(({ groups }) =>
        language.test(groups?.["language"] ?? "") ? [groups?.["content"] ?? ""] : [],
    );
}

/** Programs in TypeScript. */
export function programsOf(page: string): readonly string[] {
    return typescriptOf(page).filter((block) => !isUnitTest(block));
}

/** Tests of such programs. */
export function unitTestsOf(page: string): readonly string[] {
    return typescriptOf(page).filter(isUnitTest);
}

/** Commands after a `$`, with the lines that go on with them, without comments. */
export function commandsOf(page: string): readonly string[] {
    return blocksOf(page, /^console$/).flatMap((block) => {
        const [, ...commands] = block.replace(/^#.*\n/gm, "").split(/^\$ /m);
        return commands.map((command) => command.replace(/\s+# .*$/gm, "").trim());
    });
}

function typescriptOf(page: string): readonly string[] {
    return blocksOf(page, /^(ts|typescript)$/);
}

function isUnitTest(block: string): boolean {
    return block.includes("setMocks(");
}
