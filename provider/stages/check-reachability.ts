import type { HostView } from "../adapters/host";
import { addressesOf, sharedAddresses, withPort } from "../address";
import { apiServerOf, joinPortOf, joinServerOf } from "../adapters/k0s/api-address";
import { PORTS } from "../adapters/k0s/paths";
import { unchanged } from "../decide/refusal";
import type { Deadline } from "../deadline";
import { ConnectionError, reasonOf, RefusedError, TimeoutError } from "../errors";
import { counted } from "../text";
import { type HostOperation, runsWorkloads } from "./operation";
import type { Outcome } from "./stage";

/** A packet that is dropped never answers; four seconds outlast two retransmissions of a SYN. */
const PROBE_TIMEOUT = 4000;

interface Path {
    readonly from: HostView;
    readonly to: string;
    readonly port: number;
    /** Something listens there already, so that a refusal is as bad as silence. */
    readonly listens: boolean;
}

/** For a login, and a look at whose addresses a machine has. */
const LOGIN_TIMEOUT = 20_000;

/**
 * Tries every path the new node will need, on the addresses it will use (safety.md 16): joining a controller whose peer
 * port is blocked costs quorum at once, and nothing in k0s notices beforehand (k0s#7628). Of the `controllers` the members try
 * their way to it; those that cannot be logged in to are told and passed over.
 */
export async function checkReachability(
    operation: HostOperation,
    controllers: readonly HostView[],
    deadline: Deadline,
): Promise<Outcome> {
    const paths =
        operation.kind === "controller"
            ? controllerPaths(operation, await membersAmong(operation, controllers, deadline))
            : workerPaths(operation);
    const tried = await Promise.all(paths.map(async (path) => ({ path, answer: await tryPath(path, deadline) })));
    const closed = tried.filter(({ path, answer }) => answer !== "open" && (path.listens || answer === "blocked"));
    if (closed.length > 0) {
        throw new RefusedError({
            stage: "checking reachability",
            host: operation.target.address,
            what: closed
                .map(
                    ({ path, answer }) =>
                        `${path.from.address} → ${withPort({ host: path.to, port: path.port })} is ${answer}`,
                )
                .join("; "),
            advice: `Open these ports between the nodes (security group, firewall, load balancer) and run again. ${unchanged(operation.begunBefore)}`,
        });
    }
    return `${counted(paths.length, "path")} open`;
}

/** A listed controller may be switched off, or not a member yet: its firewall is nobody's business then. */
async function membersAmong(
    { cluster, clusterFacts, inputs, log }: HostOperation,
    controllers: readonly HostView[],
    deadline: Deadline,
): Promise<HostView[]> {
    const peers = clusterFacts.members.flatMap(({ peerHosts }) => peerHosts);
    const paths = { dataDir: inputs.dataDir, k0sPath: inputs.k0s.installPath };
    const asked = controllers.map(async (host): Promise<HostView[]> => {
        if (host.address === cluster.helper.address) return [host];
        try {
            const found = await host.probe(paths, deadline.within(LOGIN_TIMEOUT));
            return sharedAddresses(addressesOf(found), peers).length > 0 ? [host] : [];
        } catch (error) {
            if (!(error instanceof ConnectionError || error instanceof TimeoutError)) throw error;
            log.line(`not trying the way to this host from ${host.address}: ${reasonOf(error)}`, "quiet");
            return [];
        }
    });
    return (await Promise.all(asked)).flat();
}

function tryPath({ from, to, port }: Path, deadline: Deadline): Promise<"open" | "refused" | "blocked"> {
    return from.reach(to, port, deadline.within(PROBE_TIMEOUT));
}

function controllerPaths(operation: HostOperation, controllers: readonly HostView[]): Path[] {
    const { target, peerAddress, cluster, clusterFacts } = operation;
    const inward = [PORTS.etcdPeer, ...(runsWorkloads(operation) ? [PORTS.kubelet] : [])];
    const peers = clusterFacts.members.flatMap((member) => member.peerHosts).filter((host) => host !== peerAddress);
    // Where the token leads: a balancer in front of the API may not have the port that controllers join through.
    const join = joinServerOf(cluster.config, cluster.helperFacts.address);
    const isPeer = join.port === joinPortOf(cluster.config) && sharedAddresses(peers, [join.host]).length > 0;
    return [
        ...controllers.flatMap((from) => inward.map((port) => ({ from, to: peerAddress, port, listens: false }))),
        ...peers.flatMap((to) =>
            [PORTS.etcdPeer, cluster.apiPort, joinPortOf(cluster.config)].map((port) => ({
                from: target,
                to,
                port,
                listens: true,
            })),
        ),
        ...(isPeer ? [] : [{ from: target, to: join.host, port: join.port, listens: true }]),
    ];
}

function workerPaths({ target, cluster }: HostOperation): Path[] {
    const api = apiServerOf(cluster.config, cluster.helperFacts.address);
    return [{ from: target, to: api.host, port: api.port, listens: true }];
}
