/**
 * How joins and leaves work, by k0s version (k0s-interfaces.md 0):
 * A – members join as voters, the leader removes them at once; B – the same, but the target is shut down before it is
 * removed; C – members join as learners, and the target removes itself before it stops.
 */
export type Era = "A" | "B" | "C";

/** First patch of eras B and C on the release branches that changed midway. */
const TURNS: Readonly<Record<number, { readonly b: number; readonly c: number }>> = {
    34: { b: 4, c: Infinity },
    35: { b: 1, c: 5 },
    36: { b: 0, c: 1 },
};

/** `v1.36.3+k0s.2` → C. A version that cannot be read counts as the newest. */
export function eraOf(k0sVersion: string): Era {
    const match = /^v?1\.(?<minor>\d+)\.(?<patch>\d+)/.exec(k0sVersion);
    if (!match?.groups) return "C";
    const minor = Number(match.groups["minor"]);
    const patch = Number(match.groups["patch"]);
    const turn = TURNS[minor];
    if (turn === undefined) return minor < 34 ? "A" : "C";
    if (patch >= turn.c) return "C";
    return patch >= turn.b ? "B" : "A";
}
