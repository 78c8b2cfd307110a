import type { Etcd } from "../adapters/etcd";
import { connectEtcd, ETCD_SERVER } from "../adapters/etcd/client";
import type { HostView } from "../adapters/host";
import type { LeaseObject } from "../adapters/kube";
import { Deadline } from "../deadline";
import { sharedAddresses } from "../address";
import { isOtherMachine } from "../decide/identity";
import { nodeNameOf, peerAddressOf } from "../decide/names";
import type { SilentEtcd, TargetEtcd } from "../decide/plan";
import { defined } from "../defined";
import { nodeIps } from "../flags";
import { ConnectionError, reasonOf, RefusedError, TimeoutError } from "../errors";
import type { ClusterFacts } from "../facts/cluster";
import { readCluster } from "../facts/cluster-view";
import { readShared } from "../facts/shared-view";
import type { HostFacts } from "../facts/host";
import type { NodeInputs } from "../inputs";
import { tellingProgress } from "../progress";
import { withResolvedServers } from "./worker-servers";
import { isUnreachable, OwnHelperError, probePaths, type Session } from "./session";

/** Everything a decision is made on, from one look. */
export interface Situation {
    /** undefined: the host does not answer. */
    readonly host: HostFacts | undefined;
    /** Why it does not answer. */
    readonly unreachable: string | undefined;
    /** It shows another SSH host key than `hostKey` names: another machine (safety.md 4). */
    readonly otherHostKey: boolean;
    readonly cluster: ClusterFacts;
    readonly nodeName: string;
    readonly peerAddress: string;
    readonly targetEtcd: TargetEtcd | SilentEtcd | undefined;
}

/** What state remembers, for a host that does not answer. */
export interface Remembered {
    readonly nodeName?: string | undefined;
    readonly peerAddress?: string | undefined;
    readonly machineId?: string | undefined;
}

const STAGE = "looking at the host";
const LOOK_SECONDS = 60;
/** A refresh does not wait for hosts that are down, as a create waits for a machine that boots. */
const GLANCE_SECONDS = 20;
/** An etcd that serves answers a status at once; one that hangs never does. */
const ETCD_PATIENCE = 3000;

/** For a decision. `lease`: our lock, which every healthy member's API server must show (safety.md 9). */
export function look(session: Session, remembered: Remembered, lease?: LeaseObject): Promise<Situation> {
    const options = defined({ lease });
    const deadline = Deadline.afterSeconds(LOOK_SECONDS);
    const view = readCluster(session.cluster, options, deadline).then((facts) =>
        withResolvedServers(session, facts, deadline),
    );
    return lookAt(session, remembered, view, () => probeHost(session, session.inputs.timeouts.connect));
}

/** For a refresh, in which many nodes look at one cluster. */
export function glance(session: Session, remembered: Remembered): Promise<Situation> {
    const view = readShared(session.cluster, Deadline.afterSeconds(LOOK_SECONDS));
    const patience = Math.min(session.inputs.timeouts.connect, GLANCE_SECONDS);
    return lookAt(session, remembered, view, () => orSilent(() => probeHost(session, patience)));
}

/** A host that took the login and then answers nothing is not told from one that is down; nothing is decided on it. */
async function orSilent(probe: () => Promise<Probed>): Promise<Probed> {
    try {
        return await probe();
    } catch (error) {
        if (error instanceof TimeoutError) return { failure: new ConnectionError(error.details) };
        throw error;
    }
}

async function lookAt(
    session: Session,
    remembered: Remembered,
    view: Promise<ClusterFacts>,
    ask: () => Promise<Probed>,
): Promise<Situation> {
    const [probe, cluster] = await Promise.all([ask(), view]);
    const { inputs } = session;
    if ("failure" in probe) return withoutHost(inputs, probe.failure, remembered, cluster);
    if (!session.alone) requireOtherMachine(probe.host, cluster);
    // A host may have been renamed, or be another machine by now: the node is still the one that state knows.
    const nodeName = remembered.nodeName ?? nodeNameOf(probe.host, inputs);
    return {
        ...probe,
        unreachable: undefined,
        otherHostKey: false,
        cluster,
        nodeName,
        peerAddress: addressOf(inputs, probe.host, cluster, nodeName, remembered),
        targetEtcd: await askTargetEtcd(session, probe.host),
    };
}

type Probed = { readonly host: HostFacts } | { readonly failure: ConnectionError };

async function probeHost({ target, inputs, log }: Session, patience: number): Promise<Probed> {
    try {
        const probe = (deadline: Deadline): Promise<HostFacts> => target.probe(probePaths(inputs), deadline);
        const limit = patience === inputs.timeouts.connect ? "timeouts.connect" : undefined;
        return { host: await tellingProgress(log, STAGE, Deadline.afterSeconds(patience, limit), probe) };
    } catch (error) {
        if (error instanceof ConnectionError) return { failure: error };
        throw error;
    }
}

/** What is left to decide on when the host cannot be asked; without a name from an earlier run, nothing is. */
function withoutHost(
    inputs: NodeInputs,
    failure: ConnectionError,
    remembered: Remembered,
    cluster: ClusterFacts,
): Situation {
    const nodeName = remembered.nodeName ?? inputs.nodeName;
    // The helper is not to blame: looking for another one would only take as long again.
    if (nodeName === undefined)
        throw isUnreachable(failure) ? new ConnectionError({ ...failure.details, retryable: false }) : failure;
    return {
        host: undefined,
        unreachable: reasonOf(failure),
        otherHostKey: !isUnreachable(failure),
        cluster,
        nodeName,
        peerAddress: remembered.peerAddress ?? nodeIps(inputs)[0] ?? inputs.host,
        targetEtcd: undefined,
    };
}

/** A node never helps with its own change: what it says of the cluster ends with it. */
function requireOtherMachine(host: HostFacts, { helper, members }: ClusterFacts): void {
    const helperAddresses = members.filter(({ id }) => id === helper.memberId).flatMap(({ peerHosts }) => peerHosts);
    if (sharedAddresses(host.addresses, [helper.address, ...helperAddresses]).length === 0) return;
    throw new OwnHelperError({
        stage: STAGE,
        host: host.address,
        what: `${helper.address} in cluster.controllers is this same machine`,
        advice: "Name another controller of the cluster in `cluster.controllers`.",
    });
}

function addressOf(
    inputs: NodeInputs,
    host: HostFacts,
    cluster: ClusterFacts,
    nodeName: string,
    remembered: Remembered,
): string {
    const { peerAddress, machineId } = remembered;
    if (peerAddress !== undefined && isOtherMachine(host, defined({ machineId }))) return peerAddress;
    const ofNode = cluster.nodes.filter(({ name }) => name === nodeName).flatMap(({ addresses }) => addresses);
    // A worker is where its kubelet says it is, whatever was thought before there was a Node.
    const isKnown = inputs.role === "worker" && sharedAddresses(ofNode, host.addresses).length > 0;
    return requireAddress(inputs, host, isKnown ? ofNode : addressesKnown(cluster, ofNode, remembered));
}

/** A host that runs k0s has bridges with addresses of their own; the one its node is known by is not among them. */
function addressesKnown({ members }: ClusterFacts, ofNode: readonly string[], { peerAddress }: Remembered): string[] {
    return [
        ...(peerAddress === undefined ? [] : [peerAddress]),
        ...members.flatMap(({ peerHosts }) => peerHosts),
        ...ofNode,
    ];
}

function requireAddress(inputs: NodeInputs, host: HostFacts, known: readonly string[]): string {
    const found = peerAddressOf(host, inputs, known);
    if (found.ok) return found.address;
    throw new RefusedError({
        stage: STAGE,
        host: inputs.host,
        what: found.why,
        advice: "Correct `privateAddress`. Nothing was changed.",
    });
}

/** What does not answer may still serve anything; only a port that nobody listens on proves that it serves nothing. */
async function askTargetEtcd(
    { target, inputs }: Session,
    host: HostFacts,
): Promise<TargetEtcd | SilentEtcd | undefined> {
    if (!host.data.etcdDatabase || host.units.controller?.active !== "active") return undefined;
    const patience = Deadline.after(ETCD_PATIENCE);
    try {
        const etcd = await connectEtcd(target, inputs.dataDir, patience, { timeout: ETCD_PATIENCE });
        try {
            const status = await etcd.status();
            return { clusterId: status.clusterId, memberIds: status.learner ? undefined : await memberIds(etcd) };
        } finally {
            etcd.close();
        }
    } catch (error) {
        return (await isPortClosed(target)) ? undefined : { hangs: reasonOf(error) };
    }
}

async function isPortClosed(target: HostView): Promise<boolean> {
    try {
        const stream = await target.connect(ETCD_SERVER.host, ETCD_SERVER.port, Deadline.after(ETCD_PATIENCE));
        stream.destroy();
        return false;
    } catch (error) {
        return error instanceof ConnectionError && error.refused;
    }
}

async function memberIds(etcd: Etcd): Promise<bigint[] | undefined> {
    try {
        return (await etcd.members()).members.map((member) => member.id);
    } catch {
        return undefined;
    }
}
