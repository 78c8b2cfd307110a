/** An object of a parsed YAML or JSON document: what is in it, nobody has checked. */
export type Tree = Readonly<Record<string, unknown>>;

export function isTree(value: unknown): value is Tree {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one in place of anything else. */
export function treeOf(value: unknown): Tree {
    return isTree(value) ? value : {};
}
