import { isDeepStrictEqual } from "node:util";
import { sameFlags } from "../flags";
import { kindOf } from "../inputs";
import { prefixedLog, silentLog, type Log } from "../log";
import { shortList } from "../text";
import { completeInputs } from "./check";
import { withTodaysDefaults } from "./earlier-defaults";
import { isLater, migrated, migratedOutputs, schemaVersionOf } from "./migrations";
import { type Bag, bagOf, holdsUnknown, isBag, UNKNOWN } from "./shape";
import { inputsOf, resourceName } from "./state";

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
    /** In one line, without values of inputs; undefined where nothing changes. */
    readonly reason: string | undefined;
}

const NOTHING: DiffResult = { changes: false, replaces: [], deleteBeforeReplace: false };
const UPDATE: DiffResult = { changes: true, replaces: [], deleteBeforeReplace: false };

/** More names than these make a line too long to read. */
const NAMES_SHOWN = 8;

/** Compares outputs in state with checked inputs; contacts nothing and never throws (a refresh would fail with it). */
export function diff(olds: Bag, news: Bag, log?: Log): DiffResult {
    try {
        const { reason, ...result } = difference(olds, news);
        const what = result.replaces.length > 0 ? "replaced" : "updated";
        if (reason !== undefined) (log ?? logOf(news)).line(`will be ${what}: ${reason}`);
        return result;
    } catch {
        // The update looks at everything again, and can say what is wrong with the state.
        return UPDATE;
    }
}

/** The decision behind `diff`. */
export function difference(olds: Bag, news: Bag): Difference {
    if (isLater(olds)) return { ...UPDATE, reason: "its state was written by a later version of pulumi-mke" };
    const bags = bagsOf(olds, news);
    const changed = changesBetween(bags);
    const replaces = changed.filter((property) => replacesNode(property, bags));
    if (replaces.length > 0) {
        const deleteBeforeReplace = meetsItself(bags.olds, bags.news);
        return { changes: true, replaces, deleteBeforeReplace, reason: inWords(replaces, bags) };
    }
    const reasons = [...reasonsInState(bags.olds), ...(changed.length > 0 ? [inWords(changed, bags)] : [])];
    return reasons.length > 0 ? { ...UPDATE, reason: reasons.join("; ") } : { ...NOTHING, reason: undefined };
}

/** Inputs that differ; what is not known yet differs from everything. `olds`: outputs in state; `news`: checked inputs. */
export function changedInputs(olds: Bag, news: Bag): string[] {
    return changesBetween(bagsOf(olds, news));
}

/** True where a change of these inputs needs no look at any host: `update` only stores them. */
export function isStoredOnly(changed: readonly string[]): boolean {
    return changed.every((property) => EFFECTS[property] === "store");
}

/** Both in today's shape and completed: at the end of a refresh `news` are the inputs in state, as an older version checked them. */
function bagsOf(stored: Bag, given: Bag): Bags {
    const olds = migratedOutputs(stored);
    const inputs = migrated(given, schemaVersionOf(stored));
    const news: Bag = { ...inputs, ...completeInputs(kindOf(inputs["role"]), inputs) };
    return { olds, before: withTodaysDefaults({ ...inputsOf(olds) }, news), news };
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
    if (EFFECTS[property] !== "replace" || isWhatRuns(property, bags)) return false;
    // A worker's address only helps to recognise its machine.
    if (property === "privateAddress" && bags.news["role"] === "worker") return false;
    return !isDeepStrictEqual(...actual(property, bags));
}

/** A directory that k0s was seen to run with: the input was wrong, and the node stays where it is (safety.md 15). */
function isWhatRuns(property: string, { olds, news }: Bags): boolean {
    const { dataDir, kubeletRootDir } = bagOf(olds["directories"]);
    if (property === "dataDir") return dataDir !== undefined && news["dataDir"] === dataDir;
    return property === "kubeletRootDir" && kubeletRootDir !== undefined && kubeletRoot(news) === kubeletRootDir;
}

/** Both sides as the node has or would have them: to name explicitly what is so already changes no node. */
function actual(property: string, { olds, before, news }: Bags): [before: unknown, after: unknown] {
    switch (property) {
        // Without the input the node keeps what it has: its default is a matter of the machine.
        case "nodeName":
            return [olds["nodeName"], news["nodeName"] ?? olds["nodeName"]];
        case "privateAddress":
            return [addressOf(olds), primaryOf(news["privateAddress"]) ?? addressOf(olds)];
        // A move of the data directory is reported under its own name.
        case "kubeletRootDir":
            return [kubeletRoot(before), kubeletRoot({ ...news, dataDir: before["dataDir"] })];
        default:
            return [before[property], news[property]];
    }
}

function addressOf(olds: Bag): unknown {
    return primaryOf(olds["privateAddress"]) ?? olds["peerAddress"] ?? olds["host"];
}

/** Of two addresses, one of each family, the first. */
function primaryOf(privateAddress: unknown): unknown {
    return typeof privateAddress === "string" ? privateAddress.split(",", 1)[0] : privateAddress;
}

function kubeletRoot({ kubeletRootDir, dataDir }: Bag): unknown {
    return kubeletRootDir ?? `${String(dataDir)}/kubelet`;
}

/** The new node would be the same machine, or take the same address or name: the old one has to go first. */
function meetsItself(olds: Bag, news: Bag): boolean {
    const addresses = [olds["host"], addressOf(olds)];
    return (
        addresses.some(
            (address) => stays(address, news["host"]) || stays(address, primaryOf(news["privateAddress"])),
        ) || stays(olds["nodeName"], news["nodeName"])
    );
}

function stays(before: unknown, after: unknown): boolean {
    return after !== undefined && before === after;
}

/** What calls for an update whatever the inputs say. */
function reasonsInState({ status, state, drift }: Bag): string[] {
    if (Array.isArray(drift) && drift.length > 0) {
        const isRebuild = typeof state === "string" && state.startsWith("rebuild: ");
        return [`${isRebuild ? "rebuild: " : ""}${drift.map(String).join("; ")}`];
    }
    return status === "ready" ? [] : [`its status is ${typeof status === "string" ? status : "not known"}`];
}

/** Names of inputs that differ, never their values: some are secrets. */
function inWords(properties: readonly string[], { before, news }: Bags): string {
    const unknown = properties.filter((property) => news[property] === UNKNOWN);
    const changed = properties
        .filter((property) => news[property] !== UNKNOWN)
        .flatMap((property) => pathsBetween(property, before[property], news[property]));
    return [
        ...(changed.length > 0 ? [`${shortList(changed, NAMES_SHOWN)} changed`] : []),
        ...(unknown.length > 0 ? [`${shortList(unknown, NAMES_SHOWN)} not known yet`] : []),
    ].join("; ");
}

/** The fields of an object that differ, or the whole. */
function pathsBetween(property: string, before: unknown, after: unknown): string[] {
    if (!isBag(before) || !isBag(after)) return [property];
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.filter((name) => !isDeepStrictEqual(before[name], after[name])).map((name) => `${property}.${name}`);
}

function logOf(bag: Bag): Log {
    return isBag(bag) ? prefixedLog(resourceName(bag)) : silentLog;
}
