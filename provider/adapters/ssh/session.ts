import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientChannel } from "ssh2";
import { withPort } from "../../address";
import { before, type Deadline, timerLength } from "../../deadline";
import { ConnectionError, MkeError, TimeoutError, messageOf } from "../../errors";
import type { Origin } from "./origin";
import { exitOf, type RemoteCommand } from "./run";
import { Semaphore } from "./semaphore";

/** sshd allows ten sessions on a connection (MaxSessions); forwarded ports do not count. */
const MAX_COMMANDS = 8;

/** How long a channel may take to close after we closed it before its connection is given up. */
const CLOSE_PATIENCE = 5_000;

/** sshd counts a session for a moment longer than the client, which sees its channel closed. */
const CLOSING_TIME = 5_000;
const CLOSING_PAUSE = 50;

/** RFC 4254 5.1. */
const ADMINISTRATIVELY_PROHIBITED = 1;
const CONNECT_FAILED = 2;
/** OpenSSH says with the second of them why: "Connection refused", "No route to host", "Connection timed out". */
const REFUSED = /connection refused/i;

export interface SshSessionEvents {
    /** Called when nothing is open on the connection any more, and when something is again. */
    readonly onIdle: () => void;
    readonly onBusy: () => void;
    /** Called once, when the connection is lost or must not be used any more. */
    readonly onRetired: () => void;
}

/** One living SSH connection: commands and forwarded ports, each within its deadline. */
export class SshSession {
    private readonly commands = new Semaphore(MAX_COMMANDS);
    private readonly abortOnLoss = new Set<(error: MkeError) => void>();
    private open = 0;
    private lost: ConnectionError | undefined;
    private retired = false;
    /** When a command of ours ended last. */
    private lastClosed = -Infinity;

    constructor(
        readonly host: string,
        readonly origin: Origin,
        private readonly client: Client,
        private readonly events: SshSessionEvents,
    ) {
        client.on("error", (error) => this.lose(messageOf(error)));
        client.once("close", () => this.lose("the connection was closed"));
    }

    /** Starts a command. The channel closes, and `onAbort` is called, when the deadline passes or the connection breaks. */
    async exec(line: string, deadline: Deadline, onAbort: (error: MkeError) => void): Promise<RemoteCommand> {
        for (;;) {
            const leave = await this.commands.enter(deadline, () => this.timedOut("other commands were still running"));
            try {
                return await this.openChannel(
                    deadline,
                    (done) => this.client.exec(line, done),
                    (channel) => this.watch(channel, deadline, onAbort, leave),
                );
            } catch (error) {
                leave();
                if (!isRefusedSession(error)) throw this.describe(error);
                await this.untilPlace(error);
            }
        }
    }

    /** A server that allows fewer sessions than usual: waits for one of ours to end. Throws where none of ours is in the way. */
    private async untilPlace(refusal: unknown): Promise<void> {
        const { busy } = this.commands;
        if (busy > 0) {
            this.commands.lowerTo(busy);
            return;
        }
        if (performance.now() - this.lastClosed > CLOSING_TIME) throw this.noSession(refusal);
        await sleep(CLOSING_PAUSE);
    }

    /** Opens a TCP connection from the host to `address`:`port`. The stream is destroyed when the connection breaks. */
    async forward(address: string, port: number, deadline: Deadline): Promise<Duplex> {
        try {
            return await this.openChannel(
                deadline,
                (done) => this.client.forwardOut("127.0.0.1", 0, address, port, done),
                (channel) => this.watchForward(channel),
            );
        } catch (error) {
            throw this.describeForward(error, address, port);
        }
    }

    /** Ends the connection; what is still running on it is aborted. */
    close(): void {
        this.lose("the connection was closed on our side");
        this.client.end();
        this.client.destroy();
    }

    /** `attach` runs in the same turn as the server's answer: what follows it in the same packet must find its listeners. */
    private async openChannel<T>(
        deadline: Deadline,
        start: (done: (error: Error | undefined, channel: ClientChannel) => void) => void,
        attach: (channel: ClientChannel) => T,
    ): Promise<T> {
        if (this.lost !== undefined) throw this.lost;
        this.enter();
        let abort: (error: MkeError) => void = () => undefined;
        let abandoned = false;
        const opening = new Promise<T>((resolve, reject) => {
            abort = reject;
            this.abortOnLoss.add(abort);
            start((error, channel) => {
                if (error) return reject(error);
                // Nobody waits for it any more.
                if (abandoned) return void channel.on("error", () => undefined).destroy();
                resolve(attach(channel));
            });
        });
        try {
            return await before(deadline, opening, () => this.timedOut("no channel was opened"));
        } catch (error) {
            abandoned = true;
            throw error;
        } finally {
            this.abortOnLoss.delete(abort);
            this.leave();
        }
    }

    private watch(
        channel: ClientChannel,
        deadline: Deadline,
        onAbort: (error: MkeError) => void,
        leaveQueue: () => void,
    ): RemoteCommand {
        this.enter();
        const abort = (error: MkeError): void => {
            clearTimeout(timer);
            this.abortOnLoss.delete(abort);
            onAbort(error);
        };
        const timer = setTimeout(() => {
            abort(this.timedOut("the command did not end in time"));
            this.stop(channel);
        }, timerLength(deadline));
        this.abortOnLoss.add(abort);
        channel.on("error", () => undefined);
        channel.stderr.on("error", () => undefined);
        channel.once("close", () => {
            clearTimeout(timer);
            this.abortOnLoss.delete(abort);
            this.lastClosed = performance.now();
            leaveQueue();
            this.leave();
        });
        return { channel, exit: exitOf(channel) };
    }

    private watchForward(channel: ClientChannel): Duplex {
        drainWhenDestroyed(channel);
        // ssh2's channels take no error when they are destroyed.
        const abort = (error: MkeError): void => {
            channel.emit("error", error);
            channel.destroy();
        };
        this.abortOnLoss.add(abort);
        this.enter();
        channel.on("error", () => undefined);
        channel.once("close", () => {
            this.abortOnLoss.delete(abort);
            this.leave();
        });
        return channel;
    }

    /**
     * Ends a command before its time. sshd keeps the session until the program ends, so one that does not costs a place;
     * then the whole connection is replaced.
     */
    stop(channel: ClientChannel): void {
        if (this.lost !== undefined) return;
        try {
            channel.close();
            // A channel counts as closed only once all of its output was read.
            channel.resume();
            channel.stderr.resume();
        } catch {
            // Closed at the same moment.
        }
        const patience = setTimeout(() => this.retire(), CLOSE_PATIENCE);
        patience.unref();
        channel.once("close", () => clearTimeout(patience));
    }

    /** No new work comes here; what runs may end. */
    private retire(): void {
        if (this.retired) return;
        this.retired = true;
        this.events.onRetired();
    }

    private lose(reason: string): void {
        if (this.lost !== undefined) return;
        this.lost = new ConnectionError({ stage: "talking over SSH", host: this.host, what: reason });
        this.retire();
        const waiting = [...this.abortOnLoss];
        this.abortOnLoss.clear();
        // Who waits for a place shall learn it too.
        this.commands.openAll();
        for (const abort of waiting) abort(this.lost);
    }

    private enter(): void {
        if (this.open === 0) this.events.onBusy();
        this.open += 1;
    }

    private leave(): void {
        this.open -= 1;
        if (this.open === 0) this.events.onIdle();
    }

    private timedOut(what: string): TimeoutError {
        return new TimeoutError({ stage: "talking over SSH", host: this.host, what });
    }

    private describe(error: unknown): MkeError {
        if (error instanceof MkeError) return error;
        return new ConnectionError({
            stage: "talking over SSH",
            host: this.host,
            what: `the server opened no channel: ${messageOf(error)}`,
            cause: error,
        });
    }

    private noSession(cause: unknown): ConnectionError {
        return new ConnectionError({
            stage: "talking over SSH",
            host: this.host,
            what: `the server opens no session, though none of ours is open: ${messageOf(cause)}`,
            advice: "Set MaxSessions to 1 or more in sshd_config (10 is usual), and allow the user to run commands.",
            retryable: false,
            cause,
        });
    }

    private describeForward(error: unknown, address: string, port: number): MkeError {
        if (error instanceof MkeError) return error;
        const prohibited = reasonOf(error) === ADMINISTRATIVELY_PROHIBITED;
        return new ConnectionError({
            stage: `connecting to ${withPort({ host: address, port })}`,
            host: this.host,
            what: prohibited
                ? "its SSH server forbids port forwarding"
                : messageOf(error).replace("(SSH) Channel open failure: ", ""),
            retryable: !prohibited,
            refused: reasonOf(error) === CONNECT_FAILED && REFUSED.test(messageOf(error)),
            advice: prohibited ? "Set AllowTcpForwarding to yes or local in sshd_config." : undefined,
            cause: error,
        });
    }
}

function reasonOf(error: unknown): unknown {
    return (error as { reason?: unknown } | null)?.reason;
}

/** A channel counts as closed only once all of its output was read; who destroyed it reads no more, nor does a pipe. */
function drainWhenDestroyed(channel: ClientChannel): void {
    const destroy = channel.destroy.bind(channel);
    channel.destroy = (): ClientChannel => {
        destroy();
        return channel.unpipe().resume();
    };
}

function isRefusedSession(error: unknown): boolean {
    return !(error instanceof MkeError) && reasonOf(error) !== undefined;
}
