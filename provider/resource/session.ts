import { openHost } from "../adapters/ssh/pool";
import type { Host } from "../adapters/host";
import { Deadline } from "../deadline";
import { ConnectionError, HostKeyError, InputError } from "../errors";
import { type ClusterConnection, connectCluster } from "../facts/helper";
import type { NodeInputs } from "../inputs";
import { type Log, prefixedLog } from "../log";

/** What the state says a resource's node and cluster are; a fresh resource has none of it. */
export interface Pins {
    readonly clusterId?: string;
    readonly caFingerprint?: string;
}

/** One operation's way to a host and to the cluster behind a helper. */
export interface Session {
    readonly inputs: NodeInputs;
    readonly log: Log;
    readonly target: Host;
    readonly cluster: ClusterConnection;
    close(): void;
}

/** Seconds to find a helper among all candidates; each of them may have to run into its own dial time-out. */
const HELPER_SECONDS = 120;

export async function openSession(inputs: NodeInputs, pins: Pins, log: Log): Promise<Session> {
    const target = openHost(inputs.host, inputs.connection);
    const cluster = await connectCluster(
        {
            candidates: inputs.cluster.controllers,
            target: { host: inputs.host, connection: inputs.connection },
            pins: pinsOf(inputs, pins),
            openHost,
            log,
        },
        Deadline.afterSeconds(HELPER_SECONDS),
    );
    return { inputs, log, target, cluster, close: () => cluster.close() };
}

/** What state pins and what the program pins must agree: a node never moves to another cluster by an update. */
function pinsOf({ host, cluster }: NodeInputs, state: Pins): Pins {
    return {
        ...agree(host, "cluster.id", cluster.id, state.clusterId, "clusterId"),
        ...agree(host, "cluster.caFingerprint", cluster.caFingerprint, state.caFingerprint, "caFingerprint"),
    };
}

function agree<K extends keyof Pins>(
    host: string,
    input: string,
    program: string | undefined,
    state: string | undefined,
    key: K,
): Pick<Pins, K> | object {
    if (program !== undefined && state !== undefined && program !== state) {
        throw new InputError({
            stage: "looking for the cluster",
            host,
            what: `${input} is ${program}, but this node belongs to ${state}`,
            advice: "Correct the input. To move a machine to another cluster, remove the resource and add it there.",
        });
    }
    const value = state ?? program;
    return value === undefined ? {} : { [key]: value };
}

/** The last part of `organisation/project/stack/name`: what a person calls the resource. */
export function logOf(inputs: NodeInputs): Log {
    return prefixedLog(inputs.owner.split("/").at(-1) ?? inputs.host);
}

/** An unreachable host is not a gone host (rule 4); another host key is not an unreachable one. */
export function isUnreachable(error: unknown): error is ConnectionError {
    return error instanceof ConnectionError && !(error instanceof HostKeyError);
}
