import { join } from "node:path";
import type { Duplex } from "node:stream";
import { loadPackageDefinition, Server, ServerCredentials, type handleUnaryCall } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { connect } from "node:net";
import { root } from "../../support/root";
import { ControllerDaemon } from "../k0s/controller";
import type { SimCluster } from "../k0s/cluster";
import { EtcdError, type EtcdMember, peerUrl } from "../model/etcd";
import type { SimHost } from "../model/host";
import type { World } from "../model/world";

type Message = Readonly<Record<string, unknown>>;
type Handler = (seat: Seat, request: Message) => Promise<Message>;

/** One member's view: who is asked. */
interface Seat {
    readonly host: SimHost;
    readonly daemon: ControllerDaemon;
    readonly cluster: SimCluster;
    readonly member: EtcdMember;
}

const ETCD_VERSION = "3.6.14";
const UNAVAILABLE = 14;
const PROTO = join(root, "node_modules", "etcd3", "proto", "rpc.proto");
const SHUT_DOWN = new EtcdError(UNAVAILABLE, "server stopped");

/** etcd's Cluster and Maintenance services by gRPC with client certificates, one server for each controller's etcd. */
export class EtcdServers {
    private readonly servers = new Map<
        SimHost,
        { readonly daemon: ControllerDaemon; readonly port: Promise<number> }
    >();
    private readonly running: Server[] = [];

    constructor(private readonly world: () => World) {}

    accept(host: SimHost, stream: Duplex): void {
        const { daemon } = host.units;
        stream.on("error", () => undefined);
        if (!(daemon instanceof ControllerDaemon) || daemon.cluster === undefined) return void stream.destroy();
        void this.portOf(host, daemon, daemon.cluster).then((port) => {
            const socket = connect(port, "127.0.0.1").setNoDelay(true);
            socket.on("error", () => stream.destroy());
            socket.on("close", () => stream.destroy());
            stream.on("close", () => socket.destroy());
            stream.pipe(socket).pipe(stream);
        });
    }

    close(): void {
        for (const server of this.running) server.forceShutdown();
        this.servers.clear();
    }

    private portOf(host: SimHost, daemon: ControllerDaemon, cluster: SimCluster): Promise<number> {
        const known = this.servers.get(host);
        if (known?.daemon === daemon) return known.port;
        const server = new Server();
        this.running.push(server);
        const services = loadPackageDefinition(definition()) as unknown as EtcdServices;
        for (const [name, handlers] of Object.entries({ Cluster: CLUSTER, Maintenance: MAINTENANCE })) {
            const { service } = services.etcdserverpb[name as "Cluster" | "Maintenance"];
            server.addService(service, this.implementation(host, daemon, handlers));
        }
        const { cert, key } = cluster.pki.etcdServer;
        const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
        const credentials = ServerCredentials.createSsl(Buffer.from(cluster.pki.etcdCa), [pair], true);
        const port = new Promise<number>((resolve, reject) => {
            server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
        });
        this.servers.set(host, { daemon, port });
        return port;
    }

    private implementation(
        host: SimHost,
        daemon: ControllerDaemon,
        handlers: Readonly<Record<string, Handler>>,
    ): Record<string, handleUnaryCall<Message, Message>> {
        const unary =
            (handle: Handler): handleUnaryCall<Message, Message> =>
            (call, done) => {
                this.answer(host, daemon, handle, call.request).then(
                    (response) => done(null, response),
                    (error: unknown) =>
                        done(error instanceof EtcdError ? grpcError(error) : this.broken(error as Error)),
                );
            };
        return Object.fromEntries(Object.entries(handlers).map(([name, handle]) => [name, unary(handle)]));
    }

    /** A hung etcd takes the call and never answers. */
    private async answer(host: SimHost, daemon: ControllerDaemon, handle: Handler, request: Message): Promise<Message> {
        if (host.etcdHung) await new Promise(() => undefined);
        const { cluster, member } = daemon;
        if (!daemon.etcdRuns || cluster === undefined || member === undefined) throw SHUT_DOWN;
        return handle({ host, daemon, cluster, member }, request);
    }

    private broken(error: Error): Error {
        this.world().events.add("problem", `the simulated etcd failed: ${error.stack}`);
        return error;
    }
}

interface EtcdServices {
    readonly etcdserverpb: Readonly<Record<"Cluster" | "Maintenance", { readonly service: never }>>;
}

const CLUSTER: Readonly<Record<string, Handler>> = {
    memberList: async (seat, { linearizable }) => {
        if (linearizable === true) await voterCommits(seat);
        return { header: header(seat), members: seat.cluster.etcd.members.map(message) };
    },
    memberAdd: (seat, { peerURLs, isLearner }) =>
        change(seat, `MemberAdd ${String(peerURLs)}`, () => {
            const address = new URL((peerURLs as string[])[0] ?? "").hostname;
            const member = seat.cluster.etcd.add(address, isLearner === true);
            return { member: message(member), members: seat.cluster.etcd.members.map(message) };
        }),
    memberRemove: (seat, { ID }) =>
        change(seat, `MemberRemove ${BigInt(ID as string).toString(16)}`, () => {
            seat.cluster.etcd.remove(BigInt(ID as string));
            return { members: seat.cluster.etcd.members.map(message) };
        }),
    memberPromote: (seat, { ID }) =>
        change(seat, `MemberPromote ${BigInt(ID as string).toString(16)}`, () => {
            seat.cluster.etcd.promote(BigInt(ID as string));
            return { members: seat.cluster.etcd.members.map(message) };
        }),
};

const MAINTENANCE: Readonly<Record<string, Handler>> = {
    status: async (seat) => ({
        header: header(seat),
        version: ETCD_VERSION,
        leader: (seat.cluster.etcd.leaderId ?? 0n).toString(),
        raftTerm: seat.cluster.etcd.term,
        isLearner: seat.member.learner,
        dbSize: 3_000_000,
    }),
    alarm: async (seat) => {
        await voterCommits(seat);
        const alarms = seat.cluster.etcd.alarms.map(({ memberId, alarm }) => ({
            memberID: memberId.toString(),
            alarm,
        }));
        return { header: header(seat), alarms };
    },
    moveLeader: (seat, { targetID }) =>
        change(seat, `MoveLeader ${BigInt(targetID as string).toString(16)}`, () => {
            seat.cluster.etcd.moveLeader(seat.member.id, BigInt(targetID as string));
            return {};
        }),
};

async function voterCommits({ cluster, member }: Seat): Promise<void> {
    if (member.learner) throw new EtcdError(9, "rpc not supported for learner");
    await cluster.etcd.committed(member.id);
}

async function change(seat: Seat, what: string, action: () => Message): Promise<Message> {
    await voterCommits(seat);
    const { world } = seat.cluster;
    return world.act(() => {
        world.events.add("etcd-write", what, { host: seat.host.name });
        return { ...action(), header: header(seat) };
    });
}

function header({ cluster, member }: Seat): Message {
    return {
        cluster_id: cluster.etcd.id.toString(),
        member_id: member.id.toString(),
        revision: cluster.store.currentRevision,
        raft_term: cluster.etcd.term,
    };
}

function message({ id, name, peerAddress, learner }: EtcdMember): Message {
    return {
        ID: id.toString(),
        name,
        peerURLs: [peerUrl(peerAddress)],
        clientURLs: name === "" ? [] : ["https://127.0.0.1:2379"],
        isLearner: learner,
    };
}

function grpcError({ code, message: details }: EtcdError): Error & { code: number; details: string } {
    return Object.assign(new Error(details), { code, details });
}

let loaded: ReturnType<typeof loadSync> | undefined;

function definition(): ReturnType<typeof loadSync> {
    loaded ??= loadSync(PROTO, {
        keepCase: true,
        longs: String,
        enums: String,
        defaults: true,
        includeDirs: [join(PROTO, "..")],
    });
    return loaded;
}
