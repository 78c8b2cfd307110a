import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

/** Of this package, from `dist/provider`. */
const ROOT = join(__dirname, "..", "..");

/**
 * Path of one of this package's documents, `runbook.md` or `guides/…`, for a person who is where the program runs: as short as
 * it can be from there, absolute where it is nowhere below.
 */
export function documentPath(name: string, from = process.cwd(), root = ROOT): string {
    const own = join(root, "docs", name);
    const inside = [relative(from, own), join("node_modules", "pulumi-mke", "docs", name)].filter(
        (path) => !isAbsolute(path) && path.split(sep)[0] !== ".." && isSame(join(from, path), own),
    );
    return inside.sort((one, other) => one.length - other.length)[0] ?? own;
}

/** A linked package, and pnpm's, are known by their real path only. */
function isSame(path: string, own: string): boolean {
    try {
        return realpathSync(path) === realpathSync(own);
    } catch {
        return false;
    }
}
