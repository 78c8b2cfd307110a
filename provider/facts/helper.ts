import { isIP } from "node:net";
import type { Host } from "../adapters/host";
import { connectKube } from "../adapters/kube/client";
import type { Deadline } from "../deadline";
import { ConnectionError, MkeError, reasonOf, RefusedError } from "../errors";
import { sharedAddresses } from "../address";
import type { Connection, ControllerAddress } from "../inputs";
import type { Log } from "../log";
import { type ClusterConnection, connectController, type ControllerClients, NoCluster, Unusable } from "./controller";
import type { HostFacts } from "./host";

export type { ClusterConnection } from "./controller";

const STAGE = "finding a controller to work through";
/** One candidate that does not answer must not use up the time of the others. */
const CANDIDATE_LIMIT = 20_000;
const DEFAULT_DATA_DIR = "/var/lib/k0s";
const DEFAULT_K0S_PATH = "/usr/local/bin/k0s";

export interface HelperRequest {
    /** In the order they are tried. */
    readonly candidates: readonly ControllerAddress[];
    /** `host` of the node that is worked on; it never helps itself. undefined: no such node. */
    readonly target: string | undefined;
    /** Hosts among the candidates that were found to be the target, under other addresses. */
    readonly itself?: readonly string[];
    /** Without a cluster id, all controllers that answer must agree (safety.md 1). */
    readonly pins: { readonly clusterId?: string; readonly caFingerprint?: string };
    readonly openHost: (address: string, connection: Connection) => Host;
    readonly log: Log;
    /** Where the probe looks; what k0s itself says wins. */
    readonly dataDir?: string;
    readonly k0sPath?: string;
    /**
     * The target itself, as its own helper: only where it is the one member of its cluster, and every other candidate answers
     * and is blank. A controller out of reach may have the real cluster behind it.
     */
    readonly alone?: ControllerAddress;
    /** Asked when no candidate can be used: controllers that the cluster itself names. */
    readonly lastResort?: (deadline: Deadline) => Promise<readonly ControllerAddress[]>;
    readonly clients?: ControllerClients;
}

interface Skipped {
    readonly host: string;
    readonly reason: string;
    /** It may be there later without anybody changing the program. */
    readonly retryable: boolean;
    readonly hasNoCluster: boolean;
}

type Inspected = { readonly connection: ClusterConnection } | Skipped;

/**
 * Addresses of the other controllers, as the target's own API server names them, with the target's login. Empty where it
 * cannot be asked. The way in when the program names none that answers: for `lastResort`.
 */
export async function controllersNamedBy(
    target: Host,
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
    const alone = skipped.every(({ hasNoCluster }) => hasNoCluster) ? await connectAlone(request, deadline) : undefined;
    if (alone !== undefined) return alone;
    throw nobody(request, skipped);
}

async function connectAlone(request: HelperRequest, deadline: Deadline): Promise<ClusterConnection | undefined> {
    if (request.alone === undefined) return undefined;
    const { host, connection: login } = request.alone;
    const connection = await connectThrough(request, { host, connection: login }, () => undefined, deadline);
    const { members } = await connection.etcd.members();
    if (members.length === 1) return connection;
    connection.close();
    return undefined;
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
    if (request.pins.clusterId === undefined) {
        const inspected = await Promise.all(candidates.map((candidate) => inspect(request, candidate, deadline)));
        return agreed(inspected.flatMap((one) => usable(request, one, skipped)));
    }
    for (const candidate of candidates) {
        const [connection] = usable(request, await inspect(request, candidate, deadline), skipped);
        if (connection !== undefined) return connection;
    }
    return undefined;
}

function usable(request: HelperRequest, inspected: Inspected, skipped: Skipped[]): ClusterConnection[] {
    if ("connection" in inspected) return [inspected.connection];
    // That the target does not help itself needs no line.
    if (inspected.host !== request.target)
        request.log.line(`not working through ${inspected.host}: ${inspected.reason}`);
    skipped.push(inspected);
    return [];
}

async function inspect(request: HelperRequest, candidate: ControllerAddress, deadline: Deadline): Promise<Inspected> {
    try {
        const limit = deadline.within(CANDIDATE_LIMIT);
        return { connection: await connectCandidate(request, candidate, limit) };
    } catch (error) {
        const reason = reasonOf(error);
        const retryable = error instanceof MkeError && error.retryable;
        return { host: candidate.host, reason, retryable, hasNoCluster: error instanceof NoCluster };
    }
}

async function connectCandidate(
    request: HelperRequest,
    candidate: ControllerAddress,
    deadline: Deadline,
): Promise<ClusterConnection> {
    if (candidate.host === request.target) throw new NoCluster("it is the node that is worked on");
    const isOther = new NoCluster("it is the node that is worked on, under another address");
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
    const facts = await host.probe({ dataDir, k0sPath }, deadline);
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

/** The first one, if all say the same; the others are closed. */
function agreed(connections: readonly ClusterConnection[]): ClusterConnection | undefined {
    const [first, ...others] = connections;
    for (const other of others) other.close();
    const stranger = others.find((other) => first !== undefined && identityOf(other) !== identityOf(first));
    if (first === undefined || stranger === undefined) return first;
    first.close();
    throw new RefusedError({
        stage: STAGE,
        what: `the controllers belong to different clusters: ${describe(first)}; ${describe(stranger)}`,
        advice: "Name controllers of one cluster only, or say which cluster is meant with `cluster.id`.",
        topic: "second-cluster",
    });
}

function identityOf({ helperFacts: { clusterId, caFingerprint, etcdClusterId } }: ClusterConnection): string {
    return `${clusterId} ${caFingerprint} ${etcdClusterId}`;
}

function describe({ helperFacts: { address, clusterId, caFingerprint, etcdClusterId } }: ClusterConnection): string {
    return `${address} has cluster ${clusterId}, etcd ${etcdClusterId.toString(16)}, CA ${caFingerprint}`;
}

function nobody({ target }: HelperRequest, skipped: readonly Skipped[]): MkeError {
    const details = {
        stage: STAGE,
        what: skipped.length === 0 ? "no controller is named" : "none of the controllers can be used",
        output: skipped.map(({ host, reason }) => `${host}: ${reason}`).join("\n"),
        advice:
            "Name a running controller of this cluster in `cluster.controllers`" +
            `${target === undefined ? "" : `, other than ${target}`}, and check its address and login. ` +
            "After a change of keys: docs/guides/rotating-keys.md.",
    };
    return skipped.some(({ retryable }) => retryable) ? new ConnectionError(details) : new RefusedError(details);
}
