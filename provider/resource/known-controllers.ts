import { normalAddress } from "../address";
import type { ControllerAddress, NodeKind } from "../inputs";
import { type Bag, holdsUnknown, isBag } from "./shape";

/**
 * Controllers that the bags of this process named. In a replacement of every controller the program names only new, blank
 * hosts, and a `delete` only hosts that have gone: the rest of what Pulumi handed to this process still leads to the cluster.
 */
interface Mention {
    readonly clusterId: string | undefined;
    readonly controllers: readonly ControllerAddress[];
}

interface Reached {
    readonly ids: Set<string>;
    readonly hosts: Set<string>;
}

const mentions = new Map<string, Mention>();
/** Hosts that the program wants as controllers, as `check` saw them; programs spell one host in several ways. */
const wanted = new Set<string>();

/** Keeps that the program wants this host as a controller: where it is none yet, this run makes it one. */
export function rememberWanted(kind: NodeKind, { host }: Bag): void {
    if (kind === "controller" && typeof host === "string") wanted.add(normalAddress(host));
}

/** True for a host that is a controller at the end of this run, if all goes well. */
export function isWantedController(host: string): boolean {
    return wanted.has(normalAddress(host));
}

/** Keeps what a bag (inputs or outputs) says about controllers. Incomplete and unknown entries are left out. */
export function rememberControllers(bag: Bag): void {
    const cluster = isBag(bag["cluster"]) ? bag["cluster"] : {};
    const listed: readonly unknown[] = Array.isArray(cluster["controllers"]) ? cluster["controllers"] : [];
    const controllers = [...listed, ...itself(bag)].filter(isAddress);
    const id = bag["clusterId"] ?? cluster["id"];
    const clusterId = typeof id === "string" && !holdsUnknown(id) ? id : undefined;
    if (controllers.length > 0) mentions.set(JSON.stringify([clusterId, controllers]), { clusterId, controllers });
}

/**
 * Controllers mentioned together with this cluster's id, or together with one of these hosts, over any number of steps;
 * not the given hosts themselves. Candidates only: each must still prove that it belongs to the cluster. Where the id is
 * not known yet, give all hosts that the program names: what was said about them leads to an id.
 */
export function knownControllers(clusterId: string | undefined, hosts: readonly string[]): ControllerAddress[] {
    const found = new Map<string, ControllerAddress>();
    const reached: Reached = { ids: new Set(clusterId === undefined ? [] : [clusterId]), hosts: new Set(hosts) };
    const left = new Set([...mentions.values()].filter((mention) => !contradicts(mention, clusterId)));
    for (let before = -1; before !== left.size;) {
        before = left.size;
        for (const mention of left) {
            if (!belongs(mention, reached)) continue;
            left.delete(mention);
            if (mention.clusterId !== undefined) reached.ids.add(mention.clusterId);
            for (const controller of mention.controllers) {
                reached.hosts.add(controller.host);
                if (!hosts.includes(controller.host)) found.set(controller.host, controller);
            }
        }
    }
    return [...found.values()];
}

/** For tests: a process that knows nothing yet. */
export function forgetControllers(): void {
    mentions.clear();
    wanted.clear();
}

function itself({ role, status, host, connection }: Bag): readonly unknown[] {
    const serves = role !== "worker" && (status === "ready" || status === "degraded");
    return serves ? [{ host, connection }] : [];
}

function isAddress(entry: unknown): entry is ControllerAddress {
    return isBag(entry) && typeof entry["host"] === "string" && isBag(entry["connection"]) && !holdsUnknown(entry);
}

function contradicts(mention: Mention, clusterId: string | undefined): boolean {
    return clusterId !== undefined && mention.clusterId !== undefined && mention.clusterId !== clusterId;
}

function belongs(mention: Mention, reached: Reached): boolean {
    if (mention.clusterId !== undefined && reached.ids.has(mention.clusterId)) return true;
    return mention.controllers.some(({ host }) => reached.hosts.has(host));
}
