import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Deadline } from "../../deadline";
import { ConnectionError, messageOf } from "../../errors";
import type { HostView } from "../host";

/**
 * A port on this machine's loopback that leads to a port behind a host: gRPC dials addresses and takes no stream. Whoever
 * else connects to it meets etcd's TLS, which wants the client certificate.
 */
export class Tunnel {
    /** Why the last connection through it failed; gRPC tells only that one did. */
    lastError: unknown;
    private readonly sockets = new Set<Socket>();

    private constructor(
        private readonly server: Server,
        private readonly dial: () => Promise<Duplex>,
    ) {
        server.on("connection", (socket) => void this.join(socket));
    }

    static async open(via: HostView, target: { host: string; port: number }, dialTimeout: number): Promise<Tunnel> {
        const server = createServer({ pauseOnConnect: true });
        const tunnel = new Tunnel(server, () => via.connect(target.host, target.port, Deadline.after(dialTimeout)));
        await new Promise<void>((resolve, reject) => {
            server.once("error", (cause) => reject(cannotListen(via, cause)));
            server.listen(0, "127.0.0.1", resolve);
        });
        // a forgotten client must not keep a command line tool from ending
        server.unref();
        return tunnel;
    }

    get port(): number {
        return (this.server.address() as AddressInfo).port;
    }

    close(): void {
        this.server.close();
        for (const socket of this.sockets) socket.destroy();
    }

    private async join(socket: Socket): Promise<void> {
        this.sockets.add(socket);
        socket.once("close", () => this.sockets.delete(socket));
        socket.on("error", () => socket.destroy());
        try {
            const remote = await this.dial();
            this.lastError = undefined;
            remote.on("error", (error) => this.fail(socket, error));
            remote.once("close", () => socket.destroy());
            socket.once("close", () => remote.destroy());
            if (socket.destroyed) remote.destroy();
            socket.pipe(remote).pipe(socket);
        } catch (error) {
            this.fail(socket, error);
        }
    }

    private fail(socket: Socket, error: unknown): void {
        this.lastError = error;
        socket.destroy();
    }
}

function cannotListen(via: HostView, cause: unknown): ConnectionError {
    return new ConnectionError({
        stage: "connecting to etcd",
        host: via.address,
        what: `cannot listen on this machine's loopback: ${messageOf(cause)}`,
        cause,
    });
}
