import { isIP } from "node:net";
import type { HostView } from "../adapters/host";
import { connectKube } from "../adapters/kube/client";
import { before, type Deadline } from "../deadline";
import { defined } from "../defined";
import { ConnectionError, HostKeyError, MkeError, reasonOf } from "../errors";
import { sharedAddresses } from "../address";
import type { Connection, ControllerAddress } from "../inputs";
import type { Log } from "../log";
import { memberIdToHex } from "./cluster";
import { agreed } from "./agreement";
import {
    type ClusterConnection,
    connectController,
    type ControllerClients,
    NoCluster,
    NotInstalled,
    Unusable,
} from "./controller";
import type { HostFacts } from "./host";
import { LoneControllerError, noHelper, type Skipped } from "./no-helper";
import { removedIn, wasRemoved } from "./removed-controllers";
import { UnsupportedStorageError } from "./storage";

export type { ClusterConnection } from "./controller";

/** One candidate that does not answer must not use up the time of the others. */
const CANDIDATE_LIMIT = 20_000;
/** Once one can be used, the others have this long to contradict it: one that is up answers within a second or two. */
const OTHERS_LIMIT = 8_000;
const IS_TARGET_TOO = "it is the node that is worked on, under another address";
const DEFAULT_DATA_DIR = "/var/lib/k0s";
const DEFAULT_K0S_PATH = "/usr/local/bin/k0s";

export interface HelperRequest {
    /** In the order they are tried. */
    readonly candidates: readonly ControllerAddress[];
    /** `host` of the node that is worked on; it never helps itself. undefined: no such node. */
    readonly target: string | undefined;
    /** Hosts among the candidates that were found to be the target, under other addresses. */
    readonly itself?: readonly string[];
    readonly pins: { readonly clusterId?: string; readonly caFingerprint?: string };
    /**
     * Only to look: with a pinned cluster id, the word of the first one that can be used is enough. Before a change, and at
     * the first contact, all that answer must agree (safety.md 1).
     */
    readonly onlyToRead?: boolean;
    /** Addresses of the target's machine, asked where controllers disagree: the target's own word does not count. */
    readonly targetAddresses?: (deadline: Deadline) => Promise<readonly string[]>;
    readonly openHost: (address: string, connection: Connection) => HostView;
    readonly log: Log;
    /** True for a host that is no controller yet, and that this run makes one of: no person misses its help. */
    readonly isToCome?: (host: string) => boolean;
    /** Where the probe looks; what k0s itself says wins. */
    readonly dataDir?: string;
    readonly k0sPath?: string;
    /**
     * The target itself, as its own helper: only where it is the one member of its cluster, and every other candidate answers
     * and is blank, or is noted in the cluster as taken out of it. Any other one out of reach may have the real cluster behind it.
     */
    readonly alone?: ControllerAddress;
    /** Asked when no candidate can be used: controllers that the cluster itself names. */
    readonly lastResort?: (deadline: Deadline) => Promise<readonly ControllerAddress[]>;
    readonly clients?: ControllerClients;
    /** Milliseconds for the others once one can be used; for tests. */
    readonly othersLimit?: number;
}

/** The machine itself does not answer by SSH. */
class AwayError extends ConnectionError {}

function away(error: unknown): unknown {
    const isAway = error instanceof ConnectionError && !(error instanceof HostKeyError);
    return isAway ? new AwayError({ ...error.details, retryable: error.retryable, cause: error }) : error;
}

type Inspected = { readonly connection: ClusterConnection } | Skipped;

/**
 * Addresses of the other controllers, as the target's own API server names them, with the target's login. Empty where it
 * cannot be asked. The way in when the program names none that answers: for `lastResort`.
 */
export async function controllersNamedBy(
    target: HostView,
    facts: Pick<HostFacts, "addresses" | "data">,
    connection: Connection,
    deadline: Deadline,
): Promise<readonly ControllerAddress[]> {
    try {
        const kube = await connectKube(target, facts.data.dir, deadline);
        const objects = await kube.controlNodes().finally(() => kube.close());
        const addresses = objects.flatMap((object) => object.addresses).filter((address) => isIP(address) !== 0);
        return addresses.filter((host) => !facts.addresses.includes(host)).map((host) => ({ host, connection }));
    } catch {
        return [];
    }
}

/**
 * Connects to the first usable controller: never the target, and only one that fits the pins. The others are skipped with
 * a line each. Fails with a RefusedError when controllers disagree on the cluster or none can help, with a retryable
 * ConnectionError when one of those that could not be asked may come back.
 */
export async function connectCluster(request: HelperRequest, deadline: Deadline): Promise<ClusterConnection> {
    const skipped: Skipped[] = [];
    const groups: ((deadline: Deadline) => Promise<readonly ControllerAddress[]>)[] = [
        () => Promise.resolve(request.candidates),
        (limit) => request.lastResort?.(limit) ?? Promise.resolve([]),
    ];
    for (const group of groups) {
        const candidates = withoutKnown(await group(deadline), skipped);
        const connection = await findAmong(request, candidates, skipped, deadline);
        if (connection !== undefined) return connection;
    }
    const doubtful = skipped.filter(({ hasNoCluster }) => !hasNoCluster);
    // One that answers, and is no blank machine, has something to say against it.
    const alone = doubtful.every(({ isAway }) => isAway) ? await connectAlone(request, doubtful, deadline) : undefined;
    if (alone !== undefined) return alone;
    throw noHelper(request.target, request.alone !== undefined, skipped);
}

/** `away`: listed controllers that do not answer. They count as gone where the cluster notes that they were taken out of it. */
async function connectAlone(
    request: HelperRequest,
    away: readonly Skipped[],
    deadline: Deadline,
): Promise<ClusterConnection | undefined> {
    if (request.alone === undefined) return undefined;
    const { host, connection: login } = request.alone;
    const connection = await connectThrough(request, { host, connection: login }, () => undefined, deadline).catch(
        (error: unknown) => {
            const isDown = error instanceof MkeError || (error instanceof Unusable && !(error instanceof NoCluster));
            const isCertain = isDown && away.length === 0 && !(error instanceof AwayError);
            throw isCertain && !(error instanceof UnsupportedStorageError)
                ? new LoneControllerError(host, error)
                : error;
        },
    );
    try {
        const { members } = await connection.etcd.members();
        if (members.length === 1 && (await allRemoved(connection, away))) return connection;
    } catch (error) {
        connection.close();
        throw error;
    }
    connection.close();
    return undefined;
}

async function allRemoved({ kube, helperFacts }: ClusterConnection, away: readonly Skipped[]): Promise<boolean> {
    if (away.length === 0) return true;
    const removed = removedIn(await kube.clusterAnnotations());
    return away.every(({ host }) => wasRemoved(removed, host, memberIdToHex(helperFacts.etcdClusterId)));
}

function withoutKnown(candidates: readonly ControllerAddress[], skipped: readonly Skipped[]): ControllerAddress[] {
    const known = new Set(skipped.map(({ host }) => host));
    return candidates.filter(({ host }) => !known.has(host) && known.add(host));
}

async function findAmong(
    request: HelperRequest,
    candidates: readonly ControllerAddress[],
    skipped: Skipped[],
    deadline: Deadline,
): Promise<ClusterConnection | undefined> {
    if (request.onlyToRead === true && request.pins.clusterId !== undefined) {
        return firstOf(request, candidates, skipped, deadline);
    }
    const inspected = await inspectAll(request, candidates, deadline);
    const connections = inspected.flatMap((one) => ("connection" in one ? [one.connection] : []));
    const connection = await agreed(connections, () => request.targetAddresses?.(deadline) ?? Promise.resolve([]));
    // Of those after it, nobody would have asked any for help.
    const passedOver = connection === undefined ? inspected : inspected.slice(0, positionOf(inspected, connection));
    for (const one of passedOver) skip(request, "connection" in one ? itsTarget(one.connection) : one, skipped);
    return connection;
}

async function firstOf(
    request: HelperRequest,
    candidates: readonly ControllerAddress[],
    skipped: Skipped[],
    deadline: Deadline,
): Promise<ClusterConnection | undefined> {
    for (const candidate of candidates) {
        const inspected = await inspect(request, candidate, deadline);
        if ("connection" in inspected) return inspected.connection;
        skip(request, inspected, skipped);
    }
    return undefined;
}

/** All at once. One that hangs has as long as any, until another one can be used. */
async function inspectAll(
    request: HelperRequest,
    candidates: readonly ControllerAddress[],
    deadline: Deadline,
): Promise<Inspected[]> {
    const all = candidates.map((candidate) => inspect(request, candidate, deadline));
    const usable = all.map(async (one) => ("connection" in (await one) ? one : Promise.reject(new Error("unusable"))));
    await Promise.any(usable).catch(() => undefined);
    const patience = deadline.within(request.othersLimit ?? OTHERS_LIMIT);
    return Promise.all(all.map((one, index) => orLate(one, candidates[index]?.host ?? "", patience)));
}

/** What comes too late is closed when it comes. */
async function orLate(inspected: Promise<Inspected>, host: string, patience: Deadline): Promise<Inspected> {
    const late = new Error("no answer in time");
    try {
        return await before(patience, inspected, () => late);
    } catch (error) {
        if (error !== late) throw error;
        void inspected.then((one) => "connection" in one && one.connection.close());
        return { host, reason: late.message, retryable: true, hasNoCluster: false };
    }
}

function positionOf(inspected: readonly Inspected[], connection: ClusterConnection): number {
    return inspected.findIndex((one) => "connection" in one && one.connection === connection);
}

function itsTarget({ helper }: ClusterConnection): Skipped {
    return { host: helper.address, reason: IS_TARGET_TOO, retryable: false, hasNoCluster: true };
}

function skip(request: HelperRequest, one: Skipped, skipped: Skipped[]): void {
    const from = one.isBlank && request.isToCome?.(one.host) === true ? "debug" : "normal";
    // That the target does not help itself needs no line.
    if (one.host !== request.target) request.log.line(`not working through ${one.host}: ${one.reason}`, from);
    skipped.push(one);
}

async function inspect(request: HelperRequest, candidate: ControllerAddress, deadline: Deadline): Promise<Inspected> {
    try {
        const limit = deadline.within(CANDIDATE_LIMIT);
        return { connection: await connectCandidate(request, candidate, limit) };
    } catch (error) {
        const reason = reasonOf(error);
        const retryable = error instanceof MkeError && error.retryable;
        const unsupported = error instanceof UnsupportedStorageError ? error : undefined;
        return {
            ...{
                host: candidate.host,
                reason,
                retryable,
                hasNoCluster: error instanceof NoCluster,
                isBlank: error instanceof NotInstalled,
            },
            isAway: error instanceof AwayError,
            ...defined({ unsupported }),
        };
    }
}

async function connectCandidate(
    request: HelperRequest,
    candidate: ControllerAddress,
    deadline: Deadline,
): Promise<ClusterConnection> {
    if (candidate.host === request.target) throw new NoCluster("it is the node that is worked on");
    const isOther = new NoCluster(IS_TARGET_TOO);
    if (request.itself?.includes(candidate.host)) throw isOther;
    const refuse = ({ addresses }: HostFacts): void => {
        if (request.target !== undefined && sharedAddresses(addresses, [request.target]).length > 0) throw isOther;
    };
    return connectThrough(request, candidate, refuse, deadline);
}

async function connectThrough(
    request: HelperRequest,
    candidate: ControllerAddress,
    refuse: (facts: HostFacts) => void,
    deadline: Deadline,
): Promise<ClusterConnection> {
    const host = request.openHost(candidate.host, candidate.connection);
    const { dataDir = DEFAULT_DATA_DIR, k0sPath = DEFAULT_K0S_PATH } = request;
    const facts = await host.probe({ dataDir, k0sPath }, deadline).catch((error: unknown) => {
        throw away(error);
    });
    refuse(facts);
    const connection = await connectController(host, facts, deadline, request.clients);
    const mismatch = pinMismatch(request.pins, connection);
    if (mismatch === undefined) return connection;
    connection.close();
    throw new Unusable(mismatch);
}

function pinMismatch(pins: HelperRequest["pins"], { helperFacts }: ClusterConnection): string | undefined {
    const { clusterId = helperFacts.clusterId, caFingerprint = helperFacts.caFingerprint } = pins;
    if (clusterId !== helperFacts.clusterId) {
        return `it belongs to another cluster: ${helperFacts.clusterId}, not ${clusterId}`;
    }
    if (caFingerprint !== helperFacts.caFingerprint) {
        return `its cluster has another CA: ${helperFacts.caFingerprint}, not ${caFingerprint}`;
    }
    return undefined;
}
