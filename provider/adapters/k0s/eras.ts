/** A k0s version; `build` is the number after `+k0s.`. Pre-releases count as their release. */
export interface K0sVersion {
    readonly major: number;
    readonly minor: number;
    readonly patch: number;
    readonly build: number;
}

/**
 * How controllers join and leave (k0s-interfaces.md 0).
 * A: members join as voters; the leader removes them at once and the target runs on.
 * B: voters; the leader waits for the target's shutdown first, which locks up a cluster of two.
 * C: learners, promoted by the leader; the target removes itself.
 */
export type K0sEra = "A" | "B" | "C";

const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.]+)?(?:\+k0s\.(\d+))?/;

/** The first version of each era in each release branch; a branch that is not named behaves like the next older one. */
const ERA_STARTS: readonly { readonly era: K0sEra; readonly since: string }[] = [
    { era: "C", since: "1.36.0" },
    { era: "C", since: "1.35.5" },
    { era: "B", since: "1.35.0" },
    { era: "B", since: "1.34.4" },
];

/** `v1.36.3+k0s.2`; undefined for anything else. */
export function parseK0sVersion(text: string): K0sVersion | undefined {
    const match = VERSION.exec(text.trim());
    if (match === null) return undefined;
    const [major = 0, minor = 0, patch = 0, build = 0] = match
        .slice(1)
        .map((part: string | undefined) => Number(part ?? 0));
    return { major, minor, patch, build };
}

/** Below zero: `a` is older. */
export function compareK0sVersions(a: K0sVersion, b: K0sVersion): number {
    return a.major - b.major || a.minor - b.minor || a.patch - b.patch || a.build - b.build;
}

/** undefined where the version cannot be read: then only what is observed may be relied on. */
export function eraOf(version: string): K0sEra | undefined {
    const parsed = parseK0sVersion(version);
    if (parsed === undefined) return undefined;
    return ERA_STARTS.find(({ since }) => isSince(parsed, since))?.era ?? "A";
}

/** True from that version on; false where the version cannot be read. */
export function isAtLeast(version: string, since: string): boolean {
    const parsed = parseK0sVersion(version);
    return parsed !== undefined && isSince(parsed, since);
}

function isSince(version: K0sVersion, since: string): boolean {
    const start = parseK0sVersion(since);
    return start !== undefined && compareK0sVersions(version, start) >= 0;
}
