// The compiler copies no shell scripts: provider/**/*.sh goes to dist/ at the same relative place (or to another
// directory, named as first argument).
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = process.argv[2] ?? join(root, "dist");

for (const entry of readdirSync(join(root, "provider"), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".sh")) continue;
    const source = join(entry.parentPath ?? entry.path, entry.name);
    const copy = join(target, source.slice(root.length));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(source, copy);
}
