import type { ClusterClient, IOptions, MaintenanceClient } from "etcd3";
import type { Deadline } from "../../deadline";
import { ConnectionError, MkeError } from "../../errors";
import { memberIdToHex } from "../../facts/cluster";
import type { HostView } from "../host";
import { etcdError, isMemberNotFound } from "./errors";
import type { Etcd, EtcdMembers } from "./index";
import { Tunnel } from "./tunnel";

/** Where k0s's etcd listens, as seen from its host. */
export const ETCD_SERVER = { host: "127.0.0.1", port: 2379 };
const DEFAULT_TIMEOUT = 10_000;
/** In every k0s etcd server certificate, beside 127.0.0.1, which SNI does not allow (Node warns, DEP0123). */
const SERVER_NAME = "localhost";

/** PEM. The key is all-powerful in its etcd: kept in memory only, never logged. */
export interface EtcdCredentials {
    readonly ca: Buffer;
    readonly cert: Buffer;
    readonly key: Buffer;
}

export interface EtcdOptions {
    /** As seen from the host; default `ETCD_SERVER`. */
    readonly server?: { readonly host: string; readonly port: number };
    /** Milliseconds for one call, dialling included; default 10 000. */
    readonly timeout?: number;
}

/** Reads the controller's etcd client certificate and answers a client to its own etcd. Nothing is dialled yet. */
export async function connectEtcd(
    host: HostView,
    dataDir: string,
    deadline: Deadline,
    options: EtcdOptions = {},
): Promise<Etcd> {
    return openEtcd(host, await readEtcdCredentials(host, dataDir, deadline), options);
}

export async function readEtcdCredentials(
    host: HostView,
    dataDir: string,
    deadline: Deadline,
): Promise<EtcdCredentials> {
    const read = async (name: string): Promise<Buffer> => {
        const path = `${dataDir}/pki/${name}`;
        const content = await host.readFile(path, deadline);
        if (content !== undefined) return content;
        throw new ConnectionError({
            stage: "reading the etcd credentials",
            host: host.address,
            what: `${path} does not exist`,
            advice: "k0s writes it when a controller with its own etcd starts; kine and external etcd are not supported.",
        });
    };
    const [ca, cert, key] = await Promise.all([
        read("etcd/ca.crt"),
        read("apiserver-etcd-client.crt"),
        read("apiserver-etcd-client.key"),
    ]);
    return { ca, cert, key };
}

export async function openEtcd(host: HostView, credentials: EtcdCredentials, options: EtcdOptions = {}): Promise<Etcd> {
    const { server = ETCD_SERVER, timeout = DEFAULT_TIMEOUT } = options;
    const { Etcd3 } = await import("etcd3");
    const tunnel = await Tunnel.open(host, server, timeout);
    const client = new Etcd3(clientOptions(tunnel.port, credentials, timeout));
    return new EtcdClient(host.address, client, tunnel, () => client.close());
}

/** Calls are made once: whether to ask again is the caller's decision, by `retryable`. */
function clientOptions(port: number, { ca, cert, key }: EtcdCredentials, timeout: number): IOptions {
    return {
        hosts: `https://127.0.0.1:${port}`,
        credentials: { rootCertificate: ca, certChain: cert, privateKey: key },
        defaultCallOptions: () => ({ deadline: Date.now() + timeout }),
        faultHandling: { global: once, host: () => once },
        grpcOptions: {
            "grpc.ssl_target_name_override": SERVER_NAME,
            "grpc.use_local_subchannel_pool": 1,
            "grpc.initial_reconnect_backoff_ms": 100,
            "grpc.max_reconnect_backoff_ms": 1000,
            "grpc.enable_retries": 0,
        },
    };
}

type Policy = NonNullable<NonNullable<IOptions["faultHandling"]>["global"]>;

/** The part of a fault handling policy that etcd3 uses; this one hands every call through. */
const once = { execute: <T>(call: () => T): T => call() } as unknown as Policy;

class EtcdClient implements Etcd {
    constructor(
        private readonly address: string,
        private readonly client: { readonly cluster: ClusterClient; readonly maintenance: MaintenanceClient },
        private readonly tunnel: Tunnel,
        private readonly closeClient: () => void,
    ) {}

    async members(): Promise<EtcdMembers> {
        const { header, members } = await this.call("listing members", () =>
            this.client.cluster.memberList({ linearizable: true }),
        );
        return {
            clusterId: BigInt(header.cluster_id),
            members: members.map(({ ID, name, peerURLs, isLearner }) => ({
                id: BigInt(ID),
                name,
                peerUrls: peerURLs,
                learner: isLearner,
            })),
        };
    }

    async status(): ReturnType<Etcd["status"]> {
        const { header, leader, isLearner, version } = await this.call("status", () =>
            this.client.maintenance.status(),
        );
        const leaderId = BigInt(leader);
        return {
            memberId: BigInt(header.member_id),
            clusterId: BigInt(header.cluster_id),
            leaderId: leaderId === 0n ? undefined : leaderId,
            learner: isLearner,
            version,
        };
    }

    async alarms(): Promise<readonly string[]> {
        const { alarms } = await this.call("alarms", () => this.client.maintenance.alarm({ action: "Get" }));
        return alarms.map(({ alarm, memberID }) => `${alarm.toUpperCase()} on ${memberIdToHex(BigInt(memberID))}`);
    }

    async removeMember(id: bigint): Promise<"removed" | "not-found"> {
        try {
            await this.call(`removing member ${memberIdToHex(id)}`, () =>
                this.client.cluster.memberRemove({ ID: id.toString() }),
            );
            return "removed";
        } catch (error) {
            if (error instanceof MkeError && isMemberNotFound(error.details.cause)) return "not-found";
            throw error;
        }
    }

    async moveLeader(to: bigint): Promise<void> {
        await this.call(`moving leadership to ${memberIdToHex(to)}`, () =>
            this.client.maintenance.moveLeader({ targetID: to.toString() }),
        );
    }

    close(): void {
        this.closeClient();
        this.tunnel.close();
    }

    private async call<T>(name: string, ask: () => Promise<T>): Promise<T> {
        try {
            return await ask();
        } catch (error) {
            throw etcdError(this.address, name, error, this.tunnel.lastError);
        }
    }
}
