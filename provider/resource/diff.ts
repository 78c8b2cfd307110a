import { isDeepStrictEqual } from "node:util";
import { sameFlags } from "../decide/unit-flags";
import { prefixedLog, silentLog, type Log } from "../log";
import { completeInputs } from "./check";
import { withTodaysDefaults } from "./earlier-defaults";
import { kindOfRole } from "./schema";
import { type Bag, holdsUnknown, isBag } from "./shape";
import { inputsOf, resourceName, SCHEMA_VERSION } from "./state";

/**
 * What a change of an input does. `replace`: another node takes the place of this one. `update`: the running node is
 * brought in line. `store`: nothing is contacted, the new value is kept for the next operation.
 */
export type Effect = "replace" | "update" | "store";

/** Documented in docs/inputs.md, which a test compares with this table. A property that is not here never replaces. */
export const EFFECTS: Readonly<Record<string, Effect>> = {
    host: "replace",
    privateAddress: "replace",
    nodeName: "replace",
    role: "replace",
    dataDir: "replace",
    kubeletRootDir: "replace",
    triggers: "replace",
    labels: "update",
    taints: "update",
    installFlags: "update",
    k0sConfig: "update",
    connection: "update",
    cluster: "update",
    owner: "update",
    backup: "store",
    lock: "store",
    mke: "store",
    registry: "store",
    k0s: "store",
    drain: "store",
    timeouts: "store",
    preflight: "store",
    onUnreachable: "store",
    onLastController: "store",
    adopt: "store",
    allowStrandedWorkers: "store",
};

export interface DiffResult {
    readonly changes: boolean;
    readonly replaces: string[];
    readonly deleteBeforeReplace: boolean;
}

export interface Difference extends DiffResult {
    /** Why the node needs an update whatever the inputs say, in a sentence. */
    readonly reason: string | undefined;
}

/** Compares outputs in state with checked inputs; contacts nothing and never throws (a refresh would fail with it). */
export function diff(olds: Bag, news: Bag, log: Log = logOf(news)): DiffResult {
    try {
        const { reason, ...result } = difference(olds, news);
        if (reason !== undefined && result.replaces.length === 0) log.line(`will be updated: ${reason}`);
        return result;
    } catch {
        // The update looks at everything again, and can say what is wrong with the state.
        return { changes: true, replaces: [], deleteBeforeReplace: false };
    }
}

/** The decision behind `diff`. */
export function difference(olds: Bag, news: Bag): Difference {
    const bags = bagsOf(olds, news);
    const changed = changesBetween(bags);
    const replaces = changed.filter((property) => replacesNode(property, bags));
    const reason = reasonInState(olds);
    return {
        changes: changed.length > 0 || reason !== undefined,
        replaces,
        deleteBeforeReplace: replaces.length > 0 && meetsItself(olds, news),
        reason,
    };
}

/** Inputs that differ; what is not known yet differs from everything. `olds`: outputs in state; `news`: checked inputs. */
export function changedInputs(olds: Bag, news: Bag): string[] {
    return changesBetween(bagsOf(olds, news));
}

/** True where a change of these inputs needs no look at any host: `update` only stores them. */
export function isStoredOnly(changed: readonly string[]): boolean {
    return changed.every((property) => EFFECTS[property] === "store");
}

/** Both completed: at the end of a refresh `news` are the inputs in state, as an older version checked them. */
function bagsOf(olds: Bag, given: Bag): Bags {
    const news: Bag = { ...given, ...completeInputs(kindOfRole(given["role"]), given) };
    return { olds, before: withTodaysDefaults(inputsOf(olds) as unknown as Bag, news), news };
}

function changesBetween({ before, news }: Bags): string[] {
    const names = new Set([...Object.keys(before), ...Object.keys(news)]);
    names.delete("__provider");
    return [...names].filter((name) => !isSame(name, before[name], news[name]));
}

function isSame(name: string, before: unknown, after: unknown): boolean {
    if (isDeepStrictEqual(before, after)) return true;
    return name === "installFlags" && isFlags(before) && isFlags(after) && sameFlags(before, after);
}

/** Not while one of them is not known yet. */
function isFlags(value: unknown): value is readonly string[] {
    return Array.isArray(value) && value.every((flag) => typeof flag === "string") && !holdsUnknown(value);
}

interface Bags {
    readonly olds: Bag;
    readonly before: Bag;
    readonly news: Bag;
}

function replacesNode(property: string, bags: Bags): boolean {
    if (EFFECTS[property] !== "replace") return false;
    return !isDeepStrictEqual(...actual(property, bags));
}

/** Both sides as the node has or would have them: to name explicitly what is so already changes no node. */
function actual(property: string, { olds, before, news }: Bags): [before: unknown, after: unknown] {
    switch (property) {
        // Without the input the node keeps what it has: its default is a matter of the machine.
        case "nodeName":
            return [olds["nodeName"], news["nodeName"] ?? olds["nodeName"]];
        case "privateAddress":
            return [addressOf(olds), news["privateAddress"] ?? addressOf(olds)];
        // A move of the data directory is reported under its own name.
        case "kubeletRootDir":
            return [kubeletRoot(before), kubeletRoot({ ...news, dataDir: before["dataDir"] })];
        default:
            return [before[property], news[property]];
    }
}

function addressOf(olds: Bag): unknown {
    return olds["privateAddress"] ?? olds["peerAddress"] ?? olds["host"];
}

function kubeletRoot({ kubeletRootDir, dataDir }: Bag): unknown {
    return kubeletRootDir ?? `${String(dataDir)}/kubelet`;
}

/** The new node would be the same machine, or take the same address or name: the old one has to go first. */
function meetsItself(olds: Bag, news: Bag): boolean {
    const addresses = [olds["host"], addressOf(olds)];
    return (
        addresses.some((address) => stays(address, news["host"]) || stays(address, news["privateAddress"])) ||
        stays(olds["nodeName"], news["nodeName"])
    );
}

function stays(before: unknown, after: unknown): boolean {
    return after !== undefined && before === after;
}

function reasonInState(olds: Bag): string | undefined {
    const { status, state, drift, schemaVersion } = olds;
    if (Array.isArray(drift) && drift.length > 0) {
        const isRebuild = typeof state === "string" && state.startsWith("rebuild: ");
        return `${isRebuild ? "rebuild: " : ""}${drift.map(String).join("; ")}`;
    }
    if (status !== "ready") return `its status is ${typeof status === "string" ? status : "not known"}`;
    const isOlder = typeof schemaVersion !== "number" || schemaVersion < SCHEMA_VERSION;
    return isOlder ? "its state was written by an earlier version of pulumi-mke" : undefined;
}

function logOf(bag: Bag): Log {
    return isBag(bag) ? prefixedLog(resourceName(bag)) : silentLog;
}
