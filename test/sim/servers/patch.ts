type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Tree = { [key: string]: Json };

/** By what items of a list are the same in a strategic merge patch. */
const MERGE_KEYS: Readonly<Record<string, string>> = { conditions: "type", addresses: "type", containers: "name" };

/** Applies a patch of any of the three kinds to a copy. Throws Error on a JSON patch that does not fit. */
export function applyPatch(contentType: string, object: unknown, patch: unknown): unknown {
    const copy = structuredClone(object) as Json;
    if (contentType.startsWith("application/json-patch+json")) return jsonPatch(copy, patch as Operation[]);
    return mergePatch(copy, patch as Json, contentType.startsWith("application/strategic-merge-patch+json"));
}

function mergePatch(target: Json, patch: Json, strategic: boolean): Json {
    if (!isTree(patch)) return patch;
    const result: Tree = isTree(target) ? target : {};
    for (const [key, value] of Object.entries(patch)) {
        const mergeKey = MERGE_KEYS[key];
        const before = result[key] ?? null;
        if (value === null) Reflect.deleteProperty(result, key);
        else if (strategic && mergeKey !== undefined && Array.isArray(value) && Array.isArray(before)) {
            result[key] = mergeLists(before, value, mergeKey);
        } else result[key] = mergePatch(before, value, strategic);
    }
    return result;
}

function mergeLists(before: Json[], patch: Json[], key: string): Json[] {
    const result = [...before];
    for (const item of patch) {
        const at = result.findIndex((other) => isTree(other) && isTree(item) && other[key] === item[key]);
        if (at < 0) result.push(item);
        else result[at] = mergePatch(result[at] ?? null, item, true);
    }
    return result;
}

interface Operation {
    readonly op: string;
    readonly path: string;
    readonly value?: Json;
}

function jsonPatch(target: Json, operations: readonly Operation[]): Json {
    for (const { op, path, value = null } of operations) {
        const steps = path
            .split("/")
            .slice(1)
            .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
        const last = steps.pop();
        const holder = steps.reduce<Json>((at, step) => childOf(at, step), target);
        if (last !== undefined && Array.isArray(holder)) {
            patchList(holder, { op, path, value }, last);
            continue;
        }
        if (last === undefined || !isTree(holder)) throw new Error(`the path ${path} is not there`);
        if (op === "test") {
            if (JSON.stringify(holder[last] ?? null) !== JSON.stringify(value)) throw new Error(`test ${path} failed`);
        } else if (op === "remove") {
            if (!(last in holder)) throw new Error(`the path ${path} is not there`);
            Reflect.deleteProperty(holder, last);
        } else if (op === "add" || op === "replace") holder[last] = value;
        else throw new Error(`the operation ${op} is not simulated`);
    }
    return target;
}

function patchList(list: Json[], { op, path, value = null }: Operation, step: string): void {
    const index = step === "-" ? list.length : Number(step);
    if (!(index >= 0 && index <= list.length - (op === "add" ? 0 : 1)))
        throw new Error(`the path ${path} is not there`);
    if (op === "test") {
        if (JSON.stringify(list[index]) !== JSON.stringify(value)) throw new Error(`test ${path} failed`);
    } else if (op === "add") list.splice(index, 0, value);
    else if (op === "remove") list.splice(index, 1);
    else throw new Error(`the operation ${op} is not simulated in a list`);
}

function childOf(at: Json, step: string): Json {
    if (Array.isArray(at)) return at[Number(step)] ?? null;
    return isTree(at) ? (at[step] ?? null) : null;
}

function isTree(value: Json): value is Tree {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
