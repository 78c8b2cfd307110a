import type { SimCluster } from "./k0s/cluster";
import { ControllerDaemon } from "./k0s/controller";
import { nodeConfigOf, tokenServer } from "./k0s/node-config";
import { writeEtcdData } from "./k0s/pki-files";
import { WorkerDaemon } from "./k0s/worker";
import type { SimHost } from "./model/host";
import { k0sProgram } from "./model/k0s-program";
import type { Unit } from "./model/units";

export type SettledRole = "controller+worker" | "controller" | "worker";

/** The version that simulated clusters run, where nothing else is said. */
export const K0S_VERSION = "v1.36.3+k0s.2";
const K0S_PATH = "/usr/local/bin/k0s";
const CONFIG_PATH = "/etc/k0s/k0s.yaml";
const TOKEN_PATH = "/etc/k0s/k0stoken";
const TOKEN_SECONDS = 1800;

/** k0s.yaml of a controller: parsed, or as the text of a person. */
export type K0sConfig = Readonly<Record<string, unknown>> | string;

/**
 * k0s runs there as it would long after it joined (or, without a cluster, made one). Answers the cluster. `flags`: further
 * ones of `k0s install`. `configPath`: where its k0s.yaml lies; "none": it has none.
 */
export function settle(
    host: SimHost,
    role: SettledRole,
    into: SimCluster | undefined,
    config: K0sConfig,
    flags: readonly string[] = [],
    configPath?: string,
): SimCluster {
    const unit = install(host, role, config, into !== undefined, flags, configPath);
    return unit.runSettled((daemon) => {
        if (daemon instanceof ControllerDaemon) return daemon.settle(into);
        if (daemon instanceof WorkerDaemon && into !== undefined) return daemon.settle(into);
        throw new Error("a worker needs a cluster");
    });
}

/** What an operator does by hand: token from that controller, configuration, `k0s install`, start. */
export function startJoin(host: SimHost, role: SettledRole, via: SimHost, config: K0sConfig): void {
    const { daemon } = via.units;
    if (!(daemon instanceof ControllerDaemon) || daemon.cluster === undefined) {
        throw new Error(`${via.name} is no controller that runs`);
    }
    const kind = role === "worker" ? "worker" : "controller";
    const server = tokenServer(daemon.config, kind);
    const unit = install(host, role, config, true);
    host.files.write(TOKEN_PATH, daemon.cluster.createToken(kind, server, TOKEN_SECONDS), 0o600);
    unit.start();
}

/** The cluster of these controllers is restored from a backup: k0s is stopped everywhere, and starts again with it. */
export function restoreBackup(cluster: SimCluster): void {
    const units = [...cluster.daemons].map(({ unit }) => unit);
    units.forEach((unit) => unit.stop());
    cluster.etcd.restore();
    for (const unit of units) {
        const { dataDir, peerAddress } = nodeConfigOf(unit);
        const member = cluster.etcd.members.find((one) => one.peerAddress === peerAddress);
        const data = { clusterId: cluster.id, memberId: (member?.id ?? 0n).toString(16) };
        writeEtcdData(unit.host, dataDir, data, cluster.etcd.id);
        unit.start();
    }
}

function install(
    host: SimHost,
    role: SettledRole,
    config: K0sConfig,
    joins: boolean,
    further: readonly string[] = [],
    configPath: string = CONFIG_PATH,
): Unit {
    if (!host.files.isFile(K0S_PATH)) host.files.write(K0S_PATH, k0sProgram(K0S_VERSION), 0o755);
    const token = joins ? [`--token-file=${TOKEN_PATH}`] : [];
    if (role === "worker") return host.units.install("k0sworker", [K0S_PATH, "worker", ...token, ...further]);
    const hasConfig = configPath !== "none";
    if (hasConfig) host.files.write(configPath, typeof config === "string" ? config : JSON.stringify(config), 0o600);
    const flags = [
        ...(hasConfig ? [`--config=${configPath}`] : []),
        ...token,
        ...(role === "controller" ? [] : ["--enable-worker=true"]),
    ];
    return host.units.install("k0scontroller", [K0S_PATH, "controller", ...flags, ...further]);
}
