import type { NodeSettings } from "../../facts/host";
import { splitFlag } from "../../flags";

/**
 * What k0s says of settings that it does not accept, without the program's values: any of them may be a secret, and Pulumi does
 * not tell which. k0s quotes a value beside the name of its field or flag (k0s 1.36.3, observed), which is left.
 */
export function withoutValues(
    words: string,
    { installFlags, k0sConfig }: Pick<NodeSettings, "installFlags" | "k0sConfig">,
): string {
    const given = [...installFlags.map((flag) => splitFlag(flag).value), ...textsIn(k0sConfig)];
    const quoted = new Set(given.flatMap(partsOf).map((text) => JSON.stringify(text)));
    return words.replace(/"(?:[^"\\\n]|\\.)*"/g, (text) => (quoted.has(text) ? '"…"' : text));
}

/** A list in one flag is read part by part. */
function partsOf(value: string): string[] {
    return [value, ...value.split(/[,\s]+/), ...value.split(/[,=\s]+/)];
}

function textsIn(value: unknown): string[] {
    if (typeof value === "string") return [value];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
