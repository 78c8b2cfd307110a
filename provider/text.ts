/** Texts for people: what is cut from them, and how that is said. */

/** More items than this tell a reader nothing. */
const ITEMS_SHOWN = 5;

/** The first line of a message; the rest of an error is what remote programs said. */
export function firstLine(text: string): string {
    return text.split("\n", 1)[0] ?? "";
}

/** How many of what: `1 path`, `3 paths`. */
export function counted(count: number, noun: string): string {
    return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The first items and how many more there are: `w1, w2, 5 more`. */
export function shortList(items: readonly string[], most = ITEMS_SHOWN, separator = ", "): string {
    const more = items.length - most;
    return [...items.slice(0, most), ...(more > 0 ? [`${more} more`] : [])].join(separator);
}
