import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramName } from "./program";

const cache = new Map<string, string>();

/**
 * The text of a program: the common functions, the look whether it runs where it should, then its own. Each file in `scripts/`
 * says what goes in and comes out.
 */
export function programBody(name: ProgramName): string {
    return `${script("prelude")}\non_machine\n${script(name)}`;
}

function script(name: string): string {
    const known = cache.get(name);
    if (known !== undefined) return known;
    const text = readFileSync(join(__dirname, "scripts", `${name}.sh`), "utf8");
    cache.set(name, text);
    return text;
}
