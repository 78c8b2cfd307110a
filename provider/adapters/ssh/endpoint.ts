import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import type { Deadline } from "../../deadline";
import { ConnectionError, type MkeError } from "../../errors";
import type { Connection, ProxyConnection } from "../../inputs";
import type { Login } from "./credentials";
import { type Origin, originKey } from "./origin";
import type { RemoteCommand } from "./run";
import { Semaphore } from "./semaphore";
import type { SshSession } from "./session";
import { SharedConnections } from "./shared-connections";

/** sshd drops new connections at random once ten are not logged in yet (MaxStartups 10:30:100), ours or others'. */
const DIALS_AT_ONCE = 4;

/**
 * One operation's way to one SSH server: a connection, made when needed and again when it broke. The IP address that the first
 * one reached and the key it showed are those of all later ones, wherever the name leads by then.
 */
export class SshEndpoint {
    private origin: Origin | undefined;

    constructor(private readonly connections: SharedConnections) {}

    /** `SHA256:…` of the key the host showed. */
    async hostKeyFingerprint(deadline: Deadline): Promise<string> {
        return (await this.connected(deadline)).origin.hostKey.fingerprint;
    }

    /** Starts a command; `onAbort` is called when its deadline passes or its connection breaks. */
    async exec(line: string, deadline: Deadline, onAbort: (error: MkeError) => void): Promise<RemoteCommand> {
        return this.retryUnused(deadline, (session) => session.exec(line, deadline, onAbort));
    }

    /** Opens a TCP connection from the host. */
    async forward(address: string, port: number, deadline: Deadline): Promise<Duplex> {
        return this.retryUnused(deadline, (session) => session.forward(address, port, deadline));
    }

    /** Ends the connections, which others may be using. */
    close(): void {
        this.connections.close();
    }

    /** A pooled connection may have broken unnoticed since its last use: nothing ran yet, so a new one is tried once. */
    private async retryUnused<T>(deadline: Deadline, use: (session: SshSession) => Promise<T>): Promise<T> {
        const session = await this.connected(deadline);
        try {
            return await use(session);
        } catch (error) {
            const isBroken = error instanceof ConnectionError && error.retryable && !this.connections.isLiving(session);
            if (!isBroken) throw error;
            return use(await this.connected(deadline));
        }
    }

    private async connected(deadline: Deadline): Promise<SshSession> {
        for (;;) {
            const session = await this.connections.connected(this.origin, deadline);
            // Of two first uses at once, the one that comes first binds both.
            this.origin ??= session.origin;
            if (originKey(session.origin) === originKey(this.origin)) return session;
        }
    }
}

/** All SSH connections of this process. */
export class SshPool {
    private readonly shared = new Map<string, SharedConnections>();
    private readonly dialSlots = new Map<string, Semaphore>();

    /** A new one for each operation. */
    endpoint(host: string, connection: Connection): SshEndpoint {
        const { proxy, sudoPassword: _, ...login } = connection;
        return this.endpointThrough(host, login, proxy);
    }

    /** Closes all connections; the pool can be used again. */
    closeAll(): void {
        for (const connections of this.shared.values()) connections.close();
    }

    private endpointThrough(host: string, login: Login, proxy: ProxyConnection | undefined): SshEndpoint {
        const key = keyOf(host, login, proxy);
        const connections = this.shared.get(key) ?? this.connectionsTo(host, login, proxy);
        this.shared.set(key, connections);
        return new SshEndpoint(connections);
    }

    private connectionsTo(host: string, login: Login, proxy: ProxyConnection | undefined): SharedConnections {
        const slot = this.dialSlot(host, login.port);
        if (proxy === undefined) return new SharedConnections({ host, login, open: undefined, slot });
        const open = (limit: Deadline): Promise<Duplex> =>
            this.endpointThrough(proxy.host, proxy, undefined).forward(host, login.port, limit);
        return new SharedConnections({ host, login, open, slot });
    }

    private dialSlot(host: string, port: number): Semaphore {
        const key = `${host} ${port}`;
        const slot = this.dialSlots.get(key) ?? new Semaphore(DIALS_AT_ONCE);
        this.dialSlots.set(key, slot);
        return slot;
    }
}

/** Credentials are part of the key, but do not stay in it. */
function keyOf(host: string, login: Login, proxy: ProxyConnection | undefined): string {
    const sorted = (object: object | undefined): unknown =>
        object === undefined ? null : Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
    return createHash("sha256")
        .update(JSON.stringify([host, sorted(login), sorted(proxy)]))
        .digest("hex");
}
