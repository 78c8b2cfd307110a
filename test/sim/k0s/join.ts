import { httpsUrl } from "../model/address";
import { EtcdError } from "../model/etcd";
import { TIMING } from "../timing";
import type { SimCluster } from "./cluster";
import type { ControllerDaemon } from "./controller";
import type { JoinToken } from "./token";

/** The join of a controller (k0s-interfaces.md 4.1): CA first, then the request to be added, with k0s's own retries. */
export function joinCluster(joiner: ControllerDaemon, token: JoinToken | undefined): void {
    if (token === undefined) return joiner.crashSoon("Error: failed to decode the join token");
    joiner.unit.log(`Joining existing cluster via ${httpsUrl(token.host, token.port)}`);
    joiner.later(TIMING.fetchCa, () => fetchCa(joiner, token, 1));
}

function fetchCa(joiner: ControllerDaemon, token: JoinToken, attempt: number): void {
    const server = serverOf(joiner, token);
    if (typeof server === "string") {
        if (attempt < TIMING.fetchTries) {
            return joiner.later(TIMING.fetchPause, () => fetchCa(joiner, token, attempt + 1));
        }
        const via = httpsUrl(token.host, token.port);
        return joiner.crashSoon(
            `Error: failed to join controller: failed to join existing cluster via ${via}: ${server}`,
        );
    }
    joiner.writePki(server);
    joiner.host.files.mkdir(`${joiner.config.dataDir}/etcd`);
    const [earliest, latest] = TIMING.joinRequest;
    const pause = joiner.world.random.within([earliest - TIMING.fetchCa, latest - TIMING.fetchCa]);
    joiner.later(pause, () => request(joiner, token, 1));
}

function request(joiner: ControllerDaemon, token: JoinToken, attempt: number): void {
    const server = serverOf(joiner, token);
    try {
        if (typeof server === "string") throw new EtcdError(14, server);
        joiner.added(server, server.etcd.add(joiner.config.peerAddress, true));
    } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        if (attempt >= TIMING.joinTries) return joiner.crashSoon(`Error: failed to join controller: ${error.message}`);
        const pause = Math.min(TIMING.joinRetryFirst * 2 ** (attempt - 1), TIMING.joinRetryLongest);
        joiner.later(pause, () => request(joiner, token, attempt + 1));
    }
}

/** The cluster behind the token's server, or why it does not answer. */
function serverOf(joiner: ControllerDaemon, token: JoinToken): SimCluster | string {
    const route = joiner.world.network.route(joiner.host, token.host, token.port);
    if (route.verdict !== "open") return route.verdict === "blocked" ? "i/o timeout" : "connection refused";
    const cluster = joiner.world.clusters.find((candidate) => candidate.daemonAt(route.host) !== undefined);
    if (cluster === undefined || !cluster.etcd.works || !cluster.accepts(token)) return "go away";
    return cluster;
}
