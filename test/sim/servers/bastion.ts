import { createServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { type ParsedKey, Server } from "ssh2";
import type { World } from "../model/world";
import { serveForwards } from "./forwarding";
import { authenticate } from "./ssh-server";

/** The one server that listens: an SSH bastion on loopback, whose forwarded connections end inside the simulation. */
export class Bastion {
    private readonly listener: NetServer;
    private readonly sockets = new Set<Socket>();
    /** Nobody is let in. */
    private closed = false;

    private constructor(world: World, hostKey: string, userKey: ParsedKey) {
        const ssh = new Server({ hostKeys: [hostKey] }, (connection) => {
            connection.on("error", () => undefined);
            connection.on("authentication", (context) => {
                if (this.closed) context.reject(["publickey"]);
                else authenticate(context, userKey);
            });
            serveForwards(connection, world, undefined);
        });
        // Each command is some small messages back and forth, which must not wait for each other.
        this.listener = createServer({ noDelay: true }, (socket) => {
            this.sockets.add(socket);
            socket.on("close", () => this.sockets.delete(socket));
            ssh.injectSocket(socket);
        });
    }

    static async start(world: World, hostKey: string, userKey: ParsedKey): Promise<Bastion> {
        const bastion = new Bastion(world, hostKey, userKey);
        await new Promise<void>((resolve) => bastion.listener.listen(0, "127.0.0.1", resolve));
        return bastion;
    }

    get port(): number {
        return (this.listener.address() as AddressInfo).port;
    }

    /** All connections break, and no others are made until it is opened again. */
    shut(closed: boolean): void {
        this.closed = closed;
        if (closed) for (const socket of this.sockets) socket.destroy();
    }

    close(): Promise<void> {
        for (const socket of this.sockets) socket.destroy();
        return new Promise((resolve) => this.listener.close(() => resolve()));
    }
}
