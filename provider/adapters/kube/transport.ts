import { Agent, type IncomingMessage, request as startRequest, type RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { withPort } from "../../address";
import { Deadline } from "../../deadline";
import { ConnectionError, messageOf, MkeError } from "../../errors";
import type { HostView } from "../host";
import type { KubeCredentials } from "./credentials";
import type { Server } from "./own-server";

/** In every k0s API server's certificate, whatever address it is asked at; asking for an address would need SNI by IP. */
const SERVER_NAME = "localhost";
/** Calls at a time: each takes a channel of an SSH connection that others use too. */
const MAX_CALLS = 4;
/** Idle connections are given back soon. */
const IDLE_TIMEOUT = 5000;

export interface HttpRequest {
    readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    readonly path: string;
    readonly contentType?: string;
    readonly body?: unknown;
}

export interface HttpResponse {
    readonly status: number;
    readonly text: string;
}

/** What the server's clock said, and when that was heard. */
interface Heard {
    /** Milliseconds since 1970. */
    readonly date: number;
    readonly at: number;
}

/**
 * HTTPS to one API server, over streams that a host opens. It answers whatever the server says; only a server that cannot
 * be talked to is an error. Plain `node:https`, because client-node has no way to `/readyz/etcd`, cuts a Lease's times to
 * milliseconds and loses the cause of a failed connection.
 */
export class KubeTransport {
    private readonly agent: TunnelAgent;
    private readonly slots = new Slots(MAX_CALLS);
    private heard: Heard | undefined;

    constructor(
        private readonly via: HostView,
        readonly server: Server,
        credentials: KubeCredentials,
        /** Milliseconds for one call, dialling included. */
        private readonly timeout: number,
    ) {
        this.agent = new TunnelAgent(via, server, credentials, timeout);
    }

    send(request: HttpRequest): Promise<HttpResponse> {
        return this.slots.run(() => this.sendNow(request));
    }

    /** The server's clock: the `Date` of its last answer, and what passed since; undefined where none named it. */
    get now(): number | undefined {
        return this.heard && this.heard.date + (performance.now() - this.heard.at);
    }

    close(): void {
        this.agent.destroy();
    }

    private async sendNow(request: HttpRequest): Promise<HttpResponse> {
        const abort = new AbortController();
        const late = (): void => abort.abort(new Error(`no answer within ${this.timeout / 1000} s`));
        const timer = setTimeout(late, this.timeout);
        try {
            return await this.exchange(request, abort.signal);
        } catch (error) {
            throw this.describe(request, abort.signal.aborted ? abort.signal.reason : error);
        } finally {
            clearTimeout(timer);
        }
    }

    private exchange({ method, path, contentType, body }: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
        const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
        const options: RequestOptions = {
            agent: this.agent,
            host: SERVER_NAME,
            port: this.server.port,
            method,
            path,
            signal,
            headers: {
                accept: "application/json",
                ...(content && { "content-type": contentType ?? "application/json", "content-length": content.length }),
            },
        };
        return new Promise((resolve, reject) => {
            const request = startRequest(options, (response) => {
                this.hear(response.headers.date);
                readAll(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
            });
            request.on("error", reject);
            request.end(content);
        });
    }

    private hear(date: string | undefined): void {
        const named = Date.parse(date ?? "");
        if (!Number.isNaN(named)) this.heard = { date: named, at: performance.now() };
    }

    private describe({ method, path }: HttpRequest, cause: unknown): MkeError {
        if (cause instanceof MkeError) return cause;
        return new ConnectionError({
            stage: "asking the Kubernetes API",
            host: this.via.address,
            what: `${method} ${path.split("?")[0]} at ${withPort(this.server)}: ${messageOf(cause)}`,
            cause,
        });
    }
}

/** Lets so many run at a time, first come, first served. The agent's own limit does not count connections being dialled. */
class Slots {
    private readonly waiting: (() => void)[] = [];

    constructor(private free: number) {}

    async run<T>(action: () => Promise<T>): Promise<T> {
        if (this.free > 0) this.free -= 1;
        else await new Promise<void>((resolve) => this.waiting.push(resolve));
        try {
            return await action();
        } finally {
            const next = this.waiting.shift();
            if (next) next();
            else this.free += 1;
        }
    }
}

type Created = (error: Error | null, stream: Duplex) => void;

class TunnelAgent extends Agent {
    constructor(
        private readonly via: HostView,
        private readonly server: Server,
        private readonly credentials: KubeCredentials,
        private readonly dialTimeout: number,
    ) {
        super({ keepAlive: true, timeout: IDLE_TIMEOUT });
    }

    /** Node takes a stream through the callback when nothing is returned. */
    override createConnection(_options: unknown, created?: Created): undefined {
        this.dial().then(
            (stream) => created?.(null, stream),
            (error: unknown) => (created as ((error: unknown) => void) | undefined)?.(error),
        );
        return undefined;
    }

    private async dial(): Promise<Duplex> {
        const tunnel = await this.via.connect(this.server.host, this.server.port, Deadline.after(this.dialTimeout));
        const { ca, cert, key } = this.credentials;
        const socket = connectTls({ socket: tunnel, ca, cert, key, servername: SERVER_NAME });
        // Between two requests nobody listens, and an error that nobody hears would end this process.
        socket.on("error", () => undefined);
        socket.once("close", () => tunnel.destroy());
        tunnel.once("close", () => socket.destroy());
        tunnel.once("error", (error) => socket.destroy(error));
        return socket;
    }
}

async function readAll(response: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
}
