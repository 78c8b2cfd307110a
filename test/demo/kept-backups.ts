/** What docs/backups.md says of a controller that helped: the last five backups of the cluster stay on it, for root alone. */
const KEPT = 5;
const MODE = 0o600;
const NAME =
    /^\/var\/lib\/pulumi-mke\/backups\/\d{8}T\d{6}Z-(?<node>[a-z0-9]+)-(?<moment>(?:before|after)-(?:add|remove))\.tar\.gz$/;

interface Kept {
    /** Backups that may stay, by the second they were made in, such as `c3-before-remove`. */
    readonly backups: readonly string[];
    /** All other files. */
    readonly others: readonly string[];
}

/** Tells files of a machine that may stay from those that may not: a backup too many or one that others can read is none. */
export function keptBackups(files: readonly string[], modeOf: (path: string) => number | undefined): Kept {
    const found = files.filter((path) => NAME.test(path) && modeOf(path) === MODE).sort();
    const kept = new Set(found.slice(-KEPT));
    const backups = [...kept].map((path) => path.replace(NAME, "$<node>-$<moment>"));
    return { backups, others: files.filter((path) => !kept.has(path)) };
}
