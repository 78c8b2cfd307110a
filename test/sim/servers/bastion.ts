import type { AddressInfo } from "node:net";
import { type Connection, type ParsedKey, Server } from "ssh2";
import type { World } from "../model/world";
import { serveForwards } from "./forwarding";
import { authenticate } from "./ssh-server";

/** The one server that listens: an SSH bastion on loopback, whose forwarded connections end inside the simulation. */
export class Bastion {
    private readonly server: Server;
    private readonly connections = new Set<Connection>();

    private constructor(world: World, hostKey: string, userKey: ParsedKey) {
        this.server = new Server({ hostKeys: [hostKey] }, (connection) => {
            this.connections.add(connection);
            connection.on("close", () => this.connections.delete(connection));
            connection.on("error", () => undefined);
            connection.on("authentication", (context) => authenticate(context, userKey));
            serveForwards(connection, world, undefined);
        });
    }

    static async start(world: World, hostKey: string, userKey: ParsedKey): Promise<Bastion> {
        const bastion = new Bastion(world, hostKey, userKey);
        await new Promise<void>((resolve) => bastion.server.listen(0, "127.0.0.1", resolve));
        return bastion;
    }

    get port(): number {
        return (this.server.address() as AddressInfo).port;
    }

    close(): Promise<void> {
        for (const connection of this.connections) connection.end();
        return new Promise((resolve) => this.server.close(() => resolve()));
    }
}
