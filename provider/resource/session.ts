import { addressesOf } from "../address";
import { openHost } from "../adapters/ssh/pool";
import type { HostView, ProbePaths } from "../adapters/host";
import { Deadline } from "../deadline";
import { defined } from "../defined";
import { requireEngine } from "../engine";
import { ConnectionError, HostKeyError, InputError, LockError, MkeError, reasonOf, RefusedError } from "../errors";
import { type ClusterConnection, connectCluster, controllersNamedBy } from "../facts/helper";
import type { HostFacts } from "../facts/host";
import type { ControllerAddress, NodeInputs, NodeKind } from "../inputs";
import { type Log, prefixedLog } from "../log";
import { tellingProgress } from "../progress";
import { isWantedController, knownControllers } from "./known-controllers";
import { resourceName } from "./state";
import { HelperRemovedError, isLeaving, untilRemoved, whileWorking } from "./this-run";

/** What the state says a resource's node and cluster are; a fresh resource has none of it. */
export interface Pins {
    readonly clusterId?: string | undefined;
    readonly caFingerprint?: string | undefined;
}

/** A look is content with one controller's word; before a change all that answer must agree (safety.md 1). */
export type Purpose = "read" | "change";

/** One operation's way to a host and to the cluster behind a helper. */
export interface Session {
    readonly inputs: NodeInputs;
    readonly log: Log;
    readonly target: HostView;
    readonly cluster: ClusterConnection;
    /** The target is the only controller there is, and is asked itself. */
    readonly alone: boolean;
    close(): void;
}

/** Seconds to find a helper among all candidates; each of them may have to run into its own dial time-out. */
const HELPER_SECONDS = 120;

/** The controller that helps turned out to be the node itself, which the program names by another address. */
export class OwnHelperError extends RefusedError {}

/** Runs the action with a session, and again where its helper is the node itself: a node never helps with its own change. */
async function withOtherHelper<T>(
    inputs: NodeInputs,
    state: Pins,
    action: (session: Session) => Promise<T>,
    purpose: Purpose,
): Promise<T> {
    for (const itself: string[] = []; ;) {
        const session = await openSession(inputs, state, itself, purpose);
        try {
            return await action(session);
        } catch (error) {
            const { address } = session.cluster.helper;
            if (!(error instanceof OwnHelperError) || itself.includes(address)) throw error;
            itself.push(address);
        } finally {
            session.close();
        }
    }
}

/** `itself`: what the node is found under among the controllers. */
export async function openSession(
    inputs: NodeInputs,
    state: Pins,
    itself: readonly string[] = [],
    purpose: Purpose = "change",
    { seconds = HELPER_SECONDS, without }: { readonly seconds?: number; readonly without?: string } = {},
): Promise<Session> {
    const log = logOf(inputs);
    const target = openHost(inputs.host, inputs.connection);
    const pins = pinsOf(inputs, state);
    const request = {
        candidates: candidatesFor(inputs, pins.clusterId).filter(({ host }) => host !== without),
        target: inputs.host,
        itself,
        ...(inputs.role === "worker" ? {} : { alone: { host: inputs.host, connection: inputs.connection } }),
        pins,
        onlyToRead: purpose === "read",
        targetAddresses: async (deadline: Deadline) => addressesOf(await target.probe(probePaths(inputs), deadline)),
        openHost,
        log,
        isToCome: isWantedController,
        dataDir: inputs.dataDir,
        k0sPath: inputs.k0s.installPath,
        lastResort: (deadline: Deadline) => controllersNamedByTarget(target, inputs, deadline),
    };
    const limit = Deadline.afterSeconds(seconds);
    const cluster = await tellingProgress(log, "finding a controller to work through", limit, (deadline) =>
        connectCluster(request, deadline),
    );
    const alone = cluster.helper.address === inputs.host;
    return { inputs, log, target, cluster, alone, close: () => cluster.close() };
}

/** Seconds to find another controller for what is left to do after the last stage. */
const ELSEWHERE_SECONDS = 30;

/** Another way into the cluster of an operation whose own way is lost; to look, and to give a lock back. Close it after use. */
export async function clusterElsewhere(
    inputs: NodeInputs,
    { helper, helperFacts: { clusterId, caFingerprint } }: Pick<ClusterConnection, "helper" | "helperFacts">,
): Promise<ClusterConnection> {
    const limits = { seconds: ELSEWHERE_SECONDS, without: helper.address };
    return (await openSession(inputs, { clusterId, caFingerprint }, [], "read", limits)).cluster;
}

/**
 * The program's list first, then what other resources of this process named for the same cluster; last those that this
 * process removes.
 */
function candidatesFor({ host, cluster }: NodeInputs, clusterId: string | undefined): ControllerAddress[] {
    const listed = cluster.controllers.map((controller) => controller.host);
    const all = [...cluster.controllers, ...knownControllers(clusterId, [host, ...listed])];
    return [...all.filter((one) => !isLeaving(one.host)), ...all.filter((one) => isLeaving(one.host))];
}

async function controllersNamedByTarget(
    target: HostView,
    inputs: NodeInputs,
    deadline: Deadline,
): Promise<readonly ControllerAddress[]> {
    if (inputs.role === "worker") return [];
    const facts = await target.probe(probePaths(inputs), deadline);
    return controllersNamedBy(target, facts, inputs.connection, deadline);
}

/** One look at the node's machine, for as long as a machine that boots may take to answer. */
export function probeTarget(target: HostView, inputs: NodeInputs): Promise<HostFacts> {
    const limit = Deadline.afterSeconds(inputs.timeouts.connect, "timeouts.connect");
    const look = (deadline: Deadline): Promise<HostFacts> => target.probe(probePaths(inputs), deadline);
    return tellingProgress(logOf(inputs), "looking at the host", limit, look);
}

export function probePaths({ dataDir, kubeletRootDir, k0s }: NodeInputs): ProbePaths {
    return { dataDir, k0sPath: k0s.installPath, ...defined({ kubeletRootDir }) };
}

/** What state pins and what the program pins must agree: a node never moves to another cluster by an update. */
function pinsOf({ host, cluster }: NodeInputs, state: Pins): { clusterId?: string; caFingerprint?: string } {
    const clusterId = agree(host, "cluster.id", cluster.id, state.clusterId);
    const caFingerprint = agree(host, "cluster.caFingerprint", cluster.caFingerprint, state.caFingerprint);
    return defined({ clusterId, caFingerprint });
}

function agree(
    host: string,
    input: string,
    program: string | undefined,
    state: string | undefined,
): string | undefined {
    if (program !== undefined && state !== undefined && program !== state) {
        throw new InputError({
            stage: "looking for the cluster",
            host,
            what: `${input} is ${program}, but this node belongs to ${state}`,
            advice: "Correct the input. To move a machine to another cluster, remove the resource and add it there.",
        });
    }
    return state ?? program;
}

export function logOf(inputs: NodeInputs): Log {
    return prefixedLog(resourceName(inputs));
}

/** An unreachable host is not a gone host (rule 4); another host key is not an unreachable one. */
export function isUnreachable(error: unknown): error is ConnectionError {
    return error instanceof ConnectionError && !(error instanceof HostKeyError);
}

/**
 * How many helpers at most. One may itself be lost while an operation waits for its turn; where the first one is lost
 * to a look, a second one tells, and more would only take time.
 */
const HELPERS: Readonly<Record<Purpose, number>> = { change: 4, read: 2 };

/**
 * Runs the action with a session, and again through another helper where that one was lost before the action called
 * `started`: until then nothing was changed.
 */
export async function withSession<T>(
    inputs: NodeInputs,
    state: Pins,
    action: (session: Session, started: () => void) => Promise<T>,
    purpose: Purpose = "change",
): Promise<T> {
    for (let attempt = 1; ;) {
        await requireEngine("looking for the cluster");
        const changes = { begun: false };
        const found = { helper: false };
        try {
            const run = (session: Session): Promise<T> => {
                found.helper = true;
                return action(session, () => (changes.begun = true));
            };
            return await withOtherHelper(inputs, state, run, purpose);
        } catch (error) {
            if (!found.helper && !(error instanceof InputError) && (await othersHaveGone(inputs, state))) continue;
            const isLost = error instanceof MkeError && error.retryable && !(error instanceof LockError);
            if (!found.helper || changes.begun || !isLost || attempt === HELPERS[purpose]) throw error;
            // There are only so many controllers that this process can remove.
            if (!(error instanceof HelperRemovedError)) attempt += 1;
            logOf(inputs).line(`looking for a controller again: ${reasonOf(error)}`);
        }
    }
}

/** Of the last two controllers, both of which go, the second may come when the first is just leaving: it is alone after that. */
function othersHaveGone(inputs: NodeInputs, { clusterId }: Pins): Promise<boolean> {
    const hosts = candidatesFor(inputs, clusterId ?? inputs.cluster.id).map(({ host }) => host);
    return untilRemoved(hosts, logOf(inputs));
}

/** For an add or an update: while a worker's runs, no controller of its cluster is removed that was not going already. */
export function withWorkingSession<T>(
    kind: NodeKind,
    inputs: NodeInputs,
    state: Pins,
    action: (session: Session, started: () => void) => Promise<T>,
): Promise<T> {
    if (kind === "controller") return withSession(inputs, state, action);
    return withSession(inputs, state, (session, started) => {
        const { helper, helperFacts } = session.cluster;
        const work = { name: resourceName(inputs), clusterId: helperFacts.clusterId, through: helper.address };
        return whileWorking(work, session.log, () => action(session, started));
    });
}
