import type { Host } from "../adapters/host";
import { apiServerOf, joinPortOf } from "../adapters/k0s/api-address";
import { PORTS } from "../adapters/k0s/paths";
import type { Deadline } from "../deadline";
import { RefusedError } from "../errors";
import { counted } from "../text";
import { type HostOperation, runsWorkloads } from "./operation";
import type { Outcome } from "./stage";

/** A packet that is dropped never answers; four seconds outlast two retransmissions of a SYN. */
const PROBE_TIMEOUT = 4000;

interface Path {
    readonly from: Host;
    readonly to: string;
    readonly port: number;
    /** Something listens there already, so that a refusal is as bad as silence. */
    readonly listens: boolean;
}

/**
 * Tries every path the new node will need, on the addresses it will use (safety.md 16): joining a controller whose peer
 * port is blocked costs quorum at once, and nothing in k0s notices beforehand (k0s#7628).
 */
export async function checkReachability(
    operation: HostOperation,
    controllers: readonly Host[],
    deadline: Deadline,
): Promise<Outcome> {
    const paths = operation.kind === "controller" ? controllerPaths(operation, controllers) : workerPaths(operation);
    const tried = await Promise.all(paths.map(async (path) => ({ path, answer: await tryPath(path, deadline) })));
    const closed = tried.filter(({ path, answer }) => answer !== "open" && (path.listens || answer === "blocked"));
    if (closed.length > 0) {
        throw new RefusedError({
            stage: "checking reachability",
            host: operation.target.address,
            what: closed
                .map(({ path, answer }) => `${path.from.address} → ${path.to}:${path.port} is ${answer}`)
                .join("; "),
            advice: "Open these ports between the nodes (security group, firewall) and run again. Nothing was changed.",
        });
    }
    return `${counted(paths.length, "path")} open`;
}

function tryPath({ from, to, port }: Path, deadline: Deadline): Promise<"open" | "refused" | "blocked"> {
    return from.reach(to, port, deadline.within(PROBE_TIMEOUT));
}

function controllerPaths(operation: HostOperation, controllers: readonly Host[]): Path[] {
    const { target, peerAddress, cluster, clusterFacts } = operation;
    const inward = [PORTS.etcdPeer, ...(runsWorkloads(operation) ? [PORTS.kubelet] : [])];
    const peers = clusterFacts.members.flatMap((member) => member.peerHosts).filter((host) => host !== peerAddress);
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
    ];
}

function workerPaths({ target, cluster }: HostOperation): Path[] {
    const api = apiServerOf(cluster.config, cluster.helperFacts.address);
    return [{ from: target, to: api.host, port: api.port, listens: true }];
}
