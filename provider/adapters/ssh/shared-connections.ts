import type { Duplex } from "node:stream";
import { before, type Deadline } from "../../deadline";
import { ConnectionError, MkeError } from "../../errors";
import { firstLine } from "../../text";
import type { Login } from "./credentials";
import { dial, noWayAdvice } from "./dial";
import { type Origin, originKey } from "./origin";
import type { Semaphore } from "./semaphore";
import { SshSession } from "./session";

/** An unused connection stays this long. */
const IDLE_TIME = 3_000;

/** Key of the connection that is dialled where it does not matter yet which machine answers. */
const ANY = "";

/** How to reach an SSH server: see `SshPool`. */
export interface Way {
    readonly host: string;
    readonly login: Login;
    /** Through a bastion; undefined: an own TCP connection. */
    readonly open: ((deadline: Deadline) => Promise<Duplex>) | undefined;
    /** Connections to one server that are not logged in yet are limited. */
    readonly slot: Semaphore;
}

/** What all operations with one (address, port, user, credentials) share: a connection to each machine that answered there. */
export class SharedConnections {
    private readonly living = new Map<string, SshSession>();
    private readonly dialling = new Map<string, Promise<SshSession>>();
    /** Of the dialling that goes on. */
    private lastFailure: string | undefined;
    private readonly idleTimers = new Map<SshSession, NodeJS.Timeout>();

    constructor(private readonly way: Way) {}

    /** A living connection, dialled where there is none. `origin`: only to where that one ended; undefined: to whoever answers. */
    async connected(origin: Origin | undefined, deadline: Deadline): Promise<SshSession> {
        const key = origin === undefined ? ANY : originKey(origin);
        for (;;) {
            const session = origin === undefined ? this.any() : this.living.get(key);
            if (session !== undefined) return session;
            const own = !this.dialling.has(key);
            const dialling = this.dialling.get(key) ?? this.connect(origin, deadline);
            if (own) {
                const ended = (): void => void this.dialling.delete(key);
                this.dialling.set(key, dialling);
                dialling.then(ended, ended);
            }
            try {
                return await before(deadline, dialling, () => this.gaveUp(deadline));
            } catch (error) {
                // Somebody with less time dialled: try with ours.
                const retryable = error instanceof MkeError && error.retryable;
                if (own || !retryable || deadline.expired) throw error;
            }
        }
    }

    isLiving(session: SshSession): boolean {
        return this.living.get(originKey(session.origin)) === session;
    }

    close(): void {
        for (const session of [...this.living.values()]) this.end(session);
    }

    private any(): SshSession | undefined {
        return [...this.living.values()].at(-1);
    }

    private async connect(origin: Origin | undefined, deadline: Deadline): Promise<SshSession> {
        const { host, login, open, slot } = this.way;
        const leave = await slot.enter(deadline, () => this.gaveUp(deadline));
        try {
            const heard = deadline.heardBy((failure) => {
                this.lastFailure = failure;
                deadline.tell(failure);
            });
            const { client, origin: reached } = await dial({ host, origin }, login, open, heard);
            this.lastFailure = undefined;
            const session: SshSession = new SshSession(host, reached, client, {
                onBusy: () => this.busy(session),
                onIdle: () => this.idle(session),
                onRetired: () => this.forget(session),
            });
            this.living.set(originKey(reached), session);
            this.idle(session);
            return session;
        } finally {
            leave();
        }
    }

    private busy(session: SshSession): void {
        clearTimeout(this.idleTimers.get(session));
        this.idleTimers.delete(session);
    }

    private idle(session: SshSession): void {
        if (!this.isLiving(session)) return session.close();
        this.busy(session);
        const timer = setTimeout(() => this.end(session), IDLE_TIME);
        timer.unref();
        this.idleTimers.set(session, timer);
    }

    private forget(session: SshSession): void {
        this.busy(session);
        if (this.isLiving(session)) this.living.delete(originKey(session.origin));
    }

    private end(session: SshSession): void {
        this.forget(session);
        session.close();
    }

    private gaveUp({ input }: Deadline): ConnectionError {
        const { port } = this.way.login;
        const why = this.lastFailure === undefined ? "no answer yet" : firstLine(this.lastFailure);
        return new ConnectionError({
            stage: "connecting",
            host: this.way.host,
            what: `no connection to port ${port} in the time allowed${input === undefined ? "" : ` (${input})`}: ${why}`,
            advice: noWayAdvice({ port, input }),
        });
    }
}
