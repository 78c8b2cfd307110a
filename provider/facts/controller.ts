import { type EtcdOptions, openEtcd, readEtcdCredentials } from "../adapters/etcd/client";
import type { Etcd } from "../adapters/etcd";
import type { Host, HostView } from "../adapters/host";
import { handOnConfig } from "../adapters/k0s/config";
import { CONFIG_PATH } from "../adapters/k0s/paths";
import { parseK0sYaml } from "../adapters/k0s/yaml";
import type { Kube } from "../adapters/kube";
import { type KubeOptions, openKube } from "../adapters/kube/client";
import { type KubeCredentials, readKubeCredentials } from "../adapters/kube/credentials";
import { ownServer, RUNTIME_CONFIG } from "../adapters/kube/own-server";
import type { Deadline } from "../deadline";
import { hostnameOverride } from "../flags";
import type { HelperFacts } from "./cluster";
import type { HostFacts } from "./host";
import { caFingerprint } from "./host-probe";
import { requireOwnEtcd } from "./storage";

const CONFIG_FLAG = /^(--config|-c)(=|$)/;

/** A cluster, seen through one of its controllers. */
export interface ClusterConnection {
    readonly helper: Host;
    readonly helperFacts: HelperFacts;
    /** The helper's own API server. */
    readonly kube: Kube;
    /** The helper's own etcd. */
    readonly etcd: Etcd;
    /**
     * The helper's k0s.yaml as its administrator wrote it, with addresses and ports that are in force filled in; the
     * configuration in force where there is no such file to be read. Parsed.
     */
    readonly config: unknown;
    /** Path of the k0s.yaml that the helper was started with, where that file is gone: `config` is then what is in force. */
    readonly lostConfig?: string;
    /** Port of the API servers of this cluster, as the helper's listens. */
    readonly apiPort: number;
    /** The API server at another address, asked from the helper with its certificate. Close it after use. */
    kubeAt(address: string, timeout: number): Kube;
    close(): void;
}

/** How a controller's API and etcd are reached; replaced in tests. */
export interface ControllerClients {
    kube(via: HostView, credentials: KubeCredentials, options: KubeOptions): Kube;
    etcd(host: HostView, dataDir: string, deadline: Deadline, options: EtcdOptions): Promise<Etcd>;
}

const realClients: ControllerClients = {
    kube: openKube,
    etcd: async (host, dataDir, deadline, options) =>
        openEtcd(host, await readEtcdCredentials(host, dataDir, deadline), options),
};

/** Why a host cannot be the helper, in words. */
export class Unusable extends Error {}

/** There is no cluster on it, or it is the target: not a sign that a cluster is out of reach. */
export class NoCluster extends Unusable {}

/** A host without a controller's service, such as one that is to become a controller. */
export class NotInstalled extends NoCluster {}

interface RuntimeConfig {
    readonly spec?: {
        readonly nodeConfig?: unknown;
        readonly k0sVars?: { readonly StartupConfigPath?: string };
    };
}

/**
 * Connects to a controller that was probed. Fails with `Unusable` when it is no voter of a cluster with a leader, with the
 * errors of host and servers when they cannot be asked.
 */
export async function connectController(
    host: HostView,
    facts: HostFacts,
    deadline: Deadline,
    clients: ControllerClients = realClients,
): Promise<ClusterConnection> {
    const { dataDir, version } = controllerStatus(facts);
    // Its own mark may change meanwhile, by an operation on it.
    const helper = host.onMachine({ machineId: facts.machineId });
    const [credentials, runtime] = await Promise.all([
        readKubeCredentials(host, dataDir, deadline),
        readYaml(host, RUNTIME_CONFIG, deadline) as Promise<RuntimeConfig | undefined>,
    ]);
    requireOwnEtcd(host.address, facts.status, runtime?.spec?.nodeConfig);
    const own = ownServer(runtime?.spec?.nodeConfig, credentials.server);
    const apiPort = own.port;
    const kubeAt = (address: string, timeout?: number): Kube =>
        clients.kube(host, credentials, {
            server: { host: address, port: apiPort },
            ...(timeout !== undefined && { timeout }),
        });
    const etcd = await clients.etcd(host, dataDir, deadline, {});
    const kube = kubeAt(own.host);
    const close = (): void => {
        kube.close();
        etcd.close();
    };
    try {
        const service = serviceOf(facts);
        const [written, identity] = await Promise.all([
            readConfig(host, runtime, service.args ?? [], deadline),
            identify(kube, etcd),
        ]);
        const helperFacts: HelperFacts = {
            ...{ address: host.address, machineId: facts.machineId, arch: facts.arch },
            ...{ nodeName: registeredName(facts), caFingerprint: caFingerprint(credentials.ca), ...identity },
            ...{ k0sVersion: version, dataDir, ...service },
        };
        return { helper, helperFacts, kube, etcd, ...written, apiPort, kubeAt, close };
    } catch (error) {
        close();
        throw error;
    }
}

/** `--hostname-override` of the kubelet, else the host's name, as k0s does it: trimmed and in lower case. */
export function registeredName({ units, hostName }: Pick<HostFacts, "units" | "hostName">): string {
    const args = (units.controller ?? units.worker)?.args ?? [];
    return (hostnameOverride(args) ?? hostName).trim().toLowerCase();
}

/** Program and arguments of its service. */
function serviceOf({ units: { controller }, binary }: HostFacts): Pick<HelperFacts, "k0sPath" | "args"> {
    const [program = binary?.path ?? "k0s", ...args] = controller?.args ?? [];
    return { k0sPath: program, args };
}

function controllerStatus({ status, units }: HostFacts): { readonly dataDir: string; readonly version: string } {
    if (status.state === "answers") {
        if (status.role === "controller") return status;
        throw new Unusable("it is a worker");
    }
    if (units.controller === undefined) throw new NotInstalled("no controller is installed on it");
    throw new Unusable(`its k0s does not answer (unit ${units.controller.active}): ${status.reason}`);
}

async function identify(
    kube: Kube,
    etcd: Etcd,
): Promise<Pick<HelperFacts, "clusterId" | "memberId" | "etcdClusterId">> {
    const [clusterId, status] = await Promise.all([kube.clusterId(), etcd.status()]);
    if (status.learner) throw new Unusable("its etcd member is still a learner");
    if (status.leaderId === undefined) throw new Unusable("its etcd has no leader");
    // linearizable, so it also proves a quorum; a learner could not answer it
    const { members, clusterId: etcdClusterId } = await etcd.members();
    if (!members.some(({ id }) => id === status.memberId)) throw new Unusable("its etcd is not in its own member list");
    return { clusterId, memberId: status.memberId, etcdClusterId };
}

/** A missing file is as good as an empty one only where nobody named it: k0s then takes its defaults (k0s 1.36.3, cfgvars.go). */
async function readConfig(
    host: HostView,
    runtime: RuntimeConfig | undefined,
    args: readonly string[],
    deadline: Deadline,
): Promise<Pick<ClusterConnection, "config" | "lostConfig">> {
    const inForce = runtime?.spec?.nodeConfig;
    const path = runtime?.spec?.k0sVars?.StartupConfigPath;
    if (path === undefined || !path.startsWith("/")) return { config: inForce };
    const written = await readYaml(host, path, deadline);
    const isNamed = path !== CONFIG_PATH || args.some((arg) => CONFIG_FLAG.test(arg));
    if (written === undefined && isNamed) return { config: inForce, lostConfig: path };
    return { config: handOnConfig(written ?? {}, inForce) };
}

/** undefined: no such file. The parser's own message would quote the file. */
async function readYaml(host: HostView, path: string, deadline: Deadline): Promise<unknown> {
    const content = await host.readFile(path, deadline);
    if (content === undefined) return undefined;
    try {
        return parseK0sYaml(content.toString("utf8"));
    } catch {
        throw new Unusable(`its ${path} is not YAML`);
    }
}
