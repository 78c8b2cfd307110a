import { RefusedError } from "../errors";
import type { Bag } from "./shape";

/**
 * Makes outputs of one version of their shape into those of the next. It gets what is in state, unchecked, or only the inputs
 * of that time; it must not throw for any of it, and must leave alone what has the next shape already. What only a look at
 * the host can tell stays absent until the next look.
 */
export type Migration = (outs: Bag) => Bag;

/**
 * The way from each version of the shape to the next: the first entry leads from 1 to 2. Add one where outputs or inputs are
 * renamed or mean something else; a new one with a default needs none. Entries are never removed: state of any earlier
 * version must stay readable, `delete` may come years later.
 */
const MIGRATIONS: readonly Migration[] = [];

/** Version of the shape of the outputs, stored with them. */
export const SCHEMA_VERSION = 1 + MIGRATIONS.length;

/** Version of outputs in state; those that do not say have the first one. */
export function schemaVersionOf({ schemaVersion }: Bag): number {
    return typeof schemaVersion === "number" && schemaVersion >= 1 ? schemaVersion : 1;
}

/** Inputs or outputs in today's shape. `version`: theirs; inputs do not say it, but the outputs beside them do. */
export function migrated(bag: Bag, version: number, migrations: readonly Migration[] = MIGRATIONS): Bag {
    return migrations.slice(version - 1).reduce((outs, migrate) => migrate(outs), bag);
}

/** The same for outputs, which say their version. */
export function migratedOutputs(outs: Bag, migrations: readonly Migration[] = MIGRATIONS): Bag {
    const version = schemaVersionOf(outs);
    const today = 1 + migrations.length;
    return version >= today ? outs : { ...migrated(outs, version, migrations), schemaVersion: today };
}

/** True for state that a later version of this package wrote: what it means is not known here. */
export function isLater(outs: Bag): boolean {
    return schemaVersionOf(outs) > SCHEMA_VERSION;
}

/** Refuses state that a later version of this package wrote. */
export function assertReadable(outs: Bag): void {
    if (!isLater(outs)) return;
    throw new RefusedError({
        stage: "reading the state",
        host: String(outs["host"]),
        what:
            `it was written by a later version of pulumi-mke (shape ${schemaVersionOf(outs)}, this one knows ` +
            `${SCHEMA_VERSION})`,
        advice: "Install at least the version of pulumi-mke that was used last.",
    });
}
