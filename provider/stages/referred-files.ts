import type { Host } from "../adapters/host";
import { type FileReference, filesNamedIn, isMadeByK0s, referencesIn } from "../adapters/k0s/references";
import type { Deadline } from "../deadline";

/** Paths of `fileReferences`, sorted. */
export async function referredFiles(
    host: Host,
    config: unknown,
    dataDir: string,
    deadline: Deadline,
): Promise<string[]> {
    const references = await fileReferences(host, config, dataDir, deadline);
    return references.map(({ path }) => path).sort();
}

/**
 * Files that a controller's configuration refers to and those that these name in turn, each once; what the components write and
 * what k0s makes itself left out. `config`: its k0s.yaml, parsed. A path whose use its name does not tell counts where there
 * is a file.
 */
export async function fileReferences(
    host: Host,
    config: unknown,
    dataDir: string,
    deadline: Deadline,
): Promise<FileReference[]> {
    const referred = new Map<string, FileReference>();
    const looked = new Set<string>();
    let next = referencesIn(config).filter(({ use }) => use !== "output");
    while (next.length > 0) {
        const fresh = next.filter(({ path }) => !looked.has(path) && !isMadeByK0s(path, dataDir));
        fresh.forEach(({ path }) => looked.add(path));
        const paths = fresh.map(({ path }) => path);
        const found = paths.length === 0 ? [] : await host.material.describe(paths, deadline);
        const files = found.filter(({ kind }) => kind === "file").map(({ path }) => path);
        for (const reference of fresh) {
            const { path, use } = reference;
            if (!referred.has(path) && (use === "input" || files.includes(path))) referred.set(path, reference);
        }
        const inner = await Promise.all(
            files.map(async (path) =>
                filesNamedIn(path, (await host.readFile(path, deadline))?.toString("utf8") ?? ""),
            ),
        );
        next = inner.flat();
    }
    return [...referred.values()];
}
