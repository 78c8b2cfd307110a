import { setTimeout as sleep } from "node:timers/promises";
import { normalAddress } from "../address";
import { requireEngine } from "../engine";
import { ConnectionError } from "../errors";
import type { NodeKind } from "../inputs";
import type { Log } from "../log";
import { seldom } from "../progress";
import { shortList } from "../text";
import type { NodeOutputs } from "./state";

/** A removal of this process that has not ended. */
export interface Removal {
    readonly kind: NodeKind;
    readonly clusterId: string | undefined;
    readonly nodeName: string;
    readonly host: string;
    /** It changes something by now, and waits for no other operation before its end. */
    hasBegun?: true;
}

/** A worker's add or update that has not ended. */
export interface Work {
    /** For the log. */
    readonly name: string;
    readonly clusterId: string;
    /** Host of the controller that it works through, and that its worker may depend on from then on. */
    readonly through: string;
}

/** This very process removed the controller that an operation works through, or tried to: one is looked for again. */
export class HelperRemovedError extends ConnectionError {}

const removals = new Set<Removal>();
const works = new Set<Work>();
/** How many removals of this host as a controller have ended well; programs spell one host in several ways. */
const removed = new Map<string, number>();

const LOOK_EVERY = 500;

/** Runs a removal, known to the others of this process until it has ended. */
export async function whileRemoving(
    kind: NodeKind,
    { clusterId, nodeName, host }: Pick<NodeOutputs, "clusterId" | "nodeName" | "host">,
    action: (itself: Removal) => Promise<void>,
): Promise<void> {
    const itself: Removal = { kind, clusterId, nodeName, host };
    removals.add(itself);
    try {
        await action(itself);
        if (kind === "controller") removed.set(normalAddress(host), timesRemoved(host) + 1);
    } finally {
        removals.delete(itself);
    }
}

/** Names of the nodes of the same cluster that this process removes besides. */
function removedBeside(itself: Removal): string[] {
    return [...removals]
        .filter((other) => other !== itself && other.clusterId === itself.clusterId)
        .map(({ nodeName }) => nodeName);
}

/**
 * What has to end before a controller may go, by name: whatever happens to workers of its cluster. Those that go or come may
 * use its API, and one that comes through another controller has no mark of that yet. None of them ever waits for a
 * controller's removal while it is listed here, so that no two wait for each other.
 */
export function endBefore(itself: Removal): string[] {
    const workers = [...removals].filter(({ kind, clusterId }) => kind === "worker" && clusterId === itself.clusterId);
    return [...workers.map(({ nodeName }) => nodeName), ...worksBeside(itself)];
}

/** What has to end before the last controller may go, and its cluster with it, by name. */
export function endBeforeLast(itself: Removal): string[] {
    return [...removedBeside(itself), ...worksBeside(itself)];
}

function worksBeside({ clusterId, host }: Removal): string[] {
    const beside = [...works].filter((work) => work.clusterId === clusterId || isSameHost(work.through, host));
    return beside.map(({ name }) => name);
}

/** True for the host of a controller whose removal is under way: others are asked for help first. */
export function isLeaving(host: string): boolean {
    return [...removals].some((removal) => removal.kind === "controller" && isSameHost(removal.host, host));
}

/**
 * For who finds no controller that can help: waits for the removals of these that have begun, in which each of them is neither a
 * controller nor blank for a while. False where there is none; nothing is to be hoped for then.
 */
export async function untilRemoved(hosts: readonly string[], log: Log): Promise<boolean> {
    const isAwaited = ({ kind, hasBegun, host }: Removal): boolean =>
        kind === "controller" && hasBegun === true && hosts.some((one) => isSameHost(one, host));
    const going = (): string[] => [...removals].filter(isAwaited).map(({ host }) => host);
    if (going().length === 0) return false;
    await untilEnded(going, log);
    return true;
}

/**
 * Runs a worker's add or update, which removals of controllers wait for. Where the one of the controller that it works through
 * has begun already it is the other way round: unlisted, it waits, and a HelperRemovedError follows, however that ends. The
 * worker would depend on what is gone, or going.
 */
export async function whileWorking<T>(work: Work, log: Log, action: () => Promise<T>): Promise<T> {
    const { through } = work;
    if (isLeaving(through)) {
        const before = timesRemoved(through);
        await untilEnded(() => (isLeaving(through) ? [through] : []), log);
        throw helperRemoved(through, timesRemoved(through) === before ? "tried to remove" : "has removed");
    }
    works.add(work);
    try {
        return await action();
    } finally {
        works.delete(work);
    }
}

/** For later: fails once that controller has been removed in this process, counted from now. */
export function expectHelper(host: string): () => void {
    const before = timesRemoved(host);
    return () => {
        if (timesRemoved(host) !== before) throw helperRemoved(host);
    };
}

export interface Patience<T> {
    /** Names of the nodes whose operations come first. */
    readonly others: () => readonly string[];
    readonly log: Log;
    readonly decide: () => Promise<T>;
    /** True for a decision that the others cannot change. */
    readonly isFinal: (decided: T) => boolean;
}

/**
 * Decides on what there is once the others have ended. Like every queue inside one process it has no limit of its own: each
 * operation that is waited for has its deadlines. Never to be called with a lock held.
 */
export async function decideAfter<T>({ others, log, decide, isFinal }: Patience<T>): Promise<T> {
    for (;;) {
        const wasQuiet = others().length === 0;
        const decided = await decide();
        // One that began meanwhile counts as well: the engine starts them in no order.
        if (isFinal(decided) || (wasQuiet && others().length === 0)) return decided;
        await untilEnded(others, log);
    }
}

/**
 * Acts, and once more where a refusal may have come from what the others were changing: they may begin after the decision, while
 * the act waits for a lock. Never to be called with a lock held.
 */
export async function actUndisturbed<T>(
    { others, log, mayPass }: Pick<Patience<T>, "others" | "log"> & { readonly mayPass: (error: unknown) => boolean },
    act: () => Promise<T>,
): Promise<T> {
    for (;;) {
        const wasQuiet = others().length === 0;
        try {
            return await act();
        } catch (error) {
            if (!mayPass(error) || (wasQuiet && others().length === 0)) throw error;
            log.line("decided again: meanwhile this run changed workers of the cluster");
        }
    }
}

async function untilEnded(others: () => readonly string[], log: Log): Promise<void> {
    const isTime = seldom();
    for (let names = others(); names.length > 0; names = others()) {
        if (isTime()) log.line(`waiting for what this run does on ${shortList(names)}`);
        await sleep(LOOK_EVERY);
        await requireEngine("waiting for other operations");
    }
}

function timesRemoved(host: string): number {
    return removed.get(normalAddress(host)) ?? 0;
}

function isSameHost(one: string, other: string): boolean {
    return normalAddress(one) === normalAddress(other);
}

function helperRemoved(host: string, did = "has removed"): HelperRemovedError {
    return new HelperRemovedError({
        stage: "working through a controller",
        host,
        what: `this run ${did} it`,
        advice: "Name another controller of this cluster in `cluster.controllers`.",
    });
}
