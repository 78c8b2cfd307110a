import { type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { TIMING } from "../timing";
import { ControllerDaemon } from "../k0s/controller";
import type { SimCluster } from "../k0s/cluster";
import { EtcdError } from "../model/etcd";
import type { SimHost } from "../model/host";
import type { World } from "../model/world";
import { serveObjects } from "./api-objects";
import { withRenewals } from "./kubelet-leases";
import { type ApiRequest, type ApiResponse, parseTarget, StatusError } from "./api-request";

/** Times that the simulation stores in simulated time; clients compare their age with real clocks. */
const TIME_FIELDS = new Set(["creationTimestamp", "deletionTimestamp", "lastTransitionTime", "lastHeartbeatTime"]);

/** The Kubernetes API over HTTPS, for all simulated controllers. It never listens: connections are handed to it. */
export class ApiServers {
    private readonly servers = new Map<SimHost, { readonly daemon: ControllerDaemon; readonly server: Server }>();

    constructor(private readonly world: () => World) {}

    accept(host: SimHost, stream: Duplex): void {
        const { daemon } = host.units;
        if (!(daemon instanceof ControllerDaemon) || daemon.cluster === undefined) return void stream.destroy();
        stream.on("error", () => undefined);
        this.serverOf(host, daemon, daemon.cluster).emit("connection", stream);
    }

    close(): void {
        for (const { server } of this.servers.values()) server.closeAllConnections();
        this.servers.clear();
    }

    private serverOf(host: SimHost, daemon: ControllerDaemon, { pki }: SimCluster): Server {
        const known = this.servers.get(host);
        if (known?.daemon === daemon) return known.server;
        known?.server.closeAllConnections();
        const { cert, key } = pki.apiServer;
        const options = { cert, key, ca: pki.ca, requestCert: true, rejectUnauthorized: false };
        const server = createServer(options, (request, response) => void this.answer(host, daemon, request, response));
        server.on("tlsClientError", () => undefined);
        this.servers.set(host, { daemon, server });
        return server;
    }

    private async answer(
        host: SimHost,
        daemon: ControllerDaemon,
        incoming: IncomingMessage,
        response: ServerResponse,
    ): Promise<void> {
        try {
            const request = await readRequest(incoming);
            const { status, content } = await this.respond(host, daemon, incoming, request);
            if (!daemon.apiRuns || host.units.daemon !== daemon) return void incoming.socket.destroy();
            const isText = typeof content === "string";
            response.writeHead(status, {
                "content-type": isText ? "text/plain" : "application/json",
                date: new Date(this.wall(Date.now())).toUTCString(),
            });
            response.end(isText ? content : this.render(content));
        } catch (error) {
            this.world().events.add("problem", `the simulated API failed: ${(error as Error).stack}`, {
                host: host.name,
            });
            incoming.socket.destroy();
        }
    }

    private async respond(
        host: SimHost,
        daemon: ControllerDaemon,
        incoming: IncomingMessage,
        request: ApiRequest,
    ): Promise<ApiResponse> {
        const { cluster, member } = daemon;
        if (cluster === undefined || member === undefined) return { status: 503, content: "starting" };
        if (request.path.startsWith("/readyz") || request.path === "/livez" || request.path === "/healthz") {
            return this.health(daemon, request.path);
        }
        if (!isAuthorized(incoming)) {
            return new StatusError(401, "Unauthorized", "Unauthorized").response;
        }
        if (request.path === "/version") return { status: 200, content: versionOf(daemon) };
        try {
            await this.etcdAnswers(daemon);
            return this.world().act(() => this.serve(host, cluster, request));
        } catch (error) {
            if (error instanceof StatusError) return error.response;
            if (error instanceof EtcdError) return new StatusError(500, "InternalError", error.message).response;
            throw error;
        }
    }

    private serve(host: SimHost, cluster: SimCluster, request: ApiRequest): ApiResponse {
        const target = parseTarget(cluster, request.path);
        if (target === undefined) {
            throw new StatusError(404, "NotFound", "the server could not find the requested resource");
        }
        if (request.method !== "GET") {
            const values = { body: JSON.stringify(request.body ?? null) };
            this.world().events.add("api-write", `${request.method} ${request.path}`, { host: host.name, values });
        }
        const response = serveObjects(cluster, target, request);
        const { clock } = this.world();
        return withRenewals(cluster, target, response, (second) => this.wall(clock.wallOf(second) + clock.drift));
    }

    /** `/readyz/etcd` with a hung etcd: 500 after 2.0 s (observed.md). */
    private async health(daemon: ControllerDaemon, path: string): Promise<ApiResponse> {
        const { cluster, member } = daemon;
        const works =
            cluster !== undefined && member !== undefined && daemon.alive && cluster.etcd.hasQuorum(member.id);
        if (path === "/livez" || works) return { status: 200, content: "ok" };
        await this.world().clock.wait(TIMING.readyzEtcd);
        const content = "internal server error: error getting data from etcd: context deadline exceeded\n";
        return { status: 500, content };
    }

    private async etcdAnswers({ alive, cluster, member }: ControllerDaemon): Promise<void> {
        if (alive && cluster !== undefined && member !== undefined) return cluster.etcd.committed(member.id);
        await this.world().clock.wait(TIMING.etcdRequest);
        throw new EtcdError(14, "request timed out");
    }

    /** What the machines' clocks say at a moment of this process's. */
    private wall(milliseconds: number): number {
        return milliseconds + this.world().clockSkew * 1000;
    }

    private render(content: object): string {
        const { drift } = this.world().clock;
        const shown = (time: string): Date => new Date(this.wall(Date.parse(time) + drift));
        return JSON.stringify(content, (key, value: unknown) => {
            if (!TIME_FIELDS.has(key) || typeof value !== "string") return value;
            return shown(value)
                .toISOString()
                .replace(/\.\d+Z$/, "Z");
        });
    }
}

function isAuthorized({ socket }: IncomingMessage): boolean {
    return (socket as Partial<TLSSocket>).authorized === true;
}

function versionOf({ config }: ControllerDaemon): object {
    const [major, minor] = config.version.replace(/^v/, "").split(".");
    return { major, minor, gitVersion: config.version.replace(/\+k0s.*$/, "+k0s"), platform: "linux/amd64" };
}

async function readRequest(incoming: IncomingMessage): Promise<ApiRequest> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const url = new URL(incoming.url ?? "/", "https://localhost");
    return {
        method: incoming.method ?? "GET",
        path: url.pathname,
        query: url.searchParams,
        contentType: incoming.headers["content-type"] ?? "application/json",
        body: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
}
