import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { before, type Deadline } from "../../deadline";
import { ConnectionError, MkeError } from "../../errors";
import type { Connection, ProxyConnection } from "../../inputs";
import type { Login } from "./credentials";
import { dial } from "./dial";
import type { RemoteCommand } from "./run";
import { Semaphore } from "./semaphore";
import { SshSession } from "./session";

/** An unused connection stays this long. */
const IDLE_TIME = 3_000;

/** sshd drops new connections at random once ten are not logged in yet (MaxStartups 10:30:100), ours or others'. */
const DIALS_AT_ONCE = 4;

/** What one (address, port, user, credentials) has: a connection, made when needed and again when it broke. */
export class SshEndpoint {
    private session: SshSession | undefined;
    private dialling: Promise<SshSession> | undefined;
    private idleTimer: NodeJS.Timeout | undefined;

    constructor(
        private readonly pool: SshPool,
        readonly host: string,
        private readonly login: Login,
        private readonly proxy: ProxyConnection | undefined,
    ) {}

    /** `SHA256:…` of the key the host showed. */
    async hostKeyFingerprint(deadline: Deadline): Promise<string> {
        return (await this.connected(deadline)).hostKeyFingerprint;
    }

    /** Starts a command; `onAbort` is called when its deadline passes or its connection breaks. */
    async exec(line: string, deadline: Deadline, onAbort: (error: MkeError) => void): Promise<RemoteCommand> {
        return this.retryUnused(deadline, (session) => session.exec(line, deadline, onAbort));
    }

    /** Opens a TCP connection from the host. */
    async forward(address: string, port: number, deadline: Deadline): Promise<Duplex> {
        return this.retryUnused(deadline, (session) => session.forward(address, port, deadline));
    }

    close(): void {
        clearTimeout(this.idleTimer);
        this.session?.close();
        this.session = undefined;
    }

    /** A pooled connection may have broken unnoticed since its last use: nothing ran yet, so a new one is tried once. */
    private async retryUnused<T>(deadline: Deadline, use: (session: SshSession) => Promise<T>): Promise<T> {
        const session = await this.connected(deadline);
        try {
            return await use(session);
        } catch (error) {
            if (!(error instanceof ConnectionError) || !error.retryable || this.session === session) throw error;
            return use(await this.connected(deadline));
        }
    }

    private async connected(deadline: Deadline): Promise<SshSession> {
        for (;;) {
            if (this.session !== undefined) return this.session;
            const own = this.dialling === undefined;
            this.dialling ??= this.connect(deadline).finally(() => (this.dialling = undefined));
            try {
                return await before(deadline, this.dialling, () => this.gaveUp());
            } catch (error) {
                // Somebody with less time dialled: try with ours.
                const retryable = error instanceof MkeError && error.retryable;
                if (own || !retryable || deadline.expired) throw error;
            }
        }
    }

    private async connect(deadline: Deadline): Promise<SshSession> {
        const { proxy } = this;
        const open =
            proxy === undefined
                ? undefined
                : (limit: Deadline) => this.pool.bastion(proxy).forward(this.host, this.login.port, limit);
        const leave = await this.pool.dialSlot(this.host, this.login.port).enter(deadline, () => this.gaveUp());
        try {
            const { client, hostKeyFingerprint } = await dial(this.host, this.login, open, deadline);
            const session: SshSession = new SshSession(this.host, hostKeyFingerprint, client, {
                onBusy: () => clearTimeout(this.idleTimer),
                onIdle: () => this.idle(session),
                onRetired: () => {
                    if (this.session === session) this.session = undefined;
                },
            });
            this.session = session;
            this.idle(session);
            return session;
        } finally {
            leave();
        }
    }

    private idle(session: SshSession): void {
        if (this.session !== session) return session.close();
        clearTimeout(this.idleTimer);
        this.idleTimer = setTimeout(() => this.close(), IDLE_TIME);
        this.idleTimer.unref();
    }

    private gaveUp(): ConnectionError {
        return new ConnectionError({
            stage: "connecting",
            host: this.host,
            what: `no connection to port ${this.login.port} in the time allowed`,
        });
    }
}

/** All SSH connections of this process. */
export class SshPool {
    private readonly endpoints = new Map<string, SshEndpoint>();
    private readonly dialSlots = new Map<string, Semaphore>();

    endpoint(host: string, connection: Connection): SshEndpoint {
        const { proxy, sudoPassword: _, ...login } = connection;
        return this.find(host, login, proxy);
    }

    bastion(proxy: ProxyConnection): SshEndpoint {
        return this.find(proxy.host, proxy, undefined);
    }

    /** Connections to one SSH server that are not logged in yet are limited. */
    dialSlot(host: string, port: number): Semaphore {
        const key = `${host} ${port}`;
        const slot = this.dialSlots.get(key) ?? new Semaphore(DIALS_AT_ONCE);
        this.dialSlots.set(key, slot);
        return slot;
    }

    /** Closes all connections; the pool can be used again. */
    closeAll(): void {
        for (const endpoint of this.endpoints.values()) endpoint.close();
    }

    private find(host: string, login: Login, proxy: ProxyConnection | undefined): SshEndpoint {
        const key = keyOf(host, login, proxy);
        const endpoint = this.endpoints.get(key) ?? new SshEndpoint(this, host, login, proxy);
        this.endpoints.set(key, endpoint);
        return endpoint;
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
