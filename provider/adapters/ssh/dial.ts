import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ConnectConfig } from "ssh2";
import { type Deadline, timerLength } from "../../deadline";
import { ConnectionError, HostKeyError, messageOf, MkeError, type OtherMachineError } from "../../errors";
import { answersTo, type Credentials, credentialsFor, KEY_VARIABLE, type Login } from "./credentials";
import { Offers } from "./offers";
import { KEY_TYPES, algorithmsFor, fingerprintOf, parseHostKey, typeOf, type ExpectedHostKey } from "./host-key";
import { movedAway, type Origin, originOf } from "./origin";

/** A dead connection is noticed after three unanswered probes. */
const KEEPALIVE_INTERVAL = 10_000;
const KEEPALIVE_COUNT = 3;

/** Pauses between attempts, as in pulumi-command. */
const FIRST_PAUSE = 100;
const PAUSE_FACTOR = 1.5;
const LONGEST_PAUSE = 5_000;

/** OpenSSH hangs up before everything was tried (`MaxAuthTries`, 6). */
const TOO_MANY_FAILURES = /^Too many authentication failures/;

const ROTATED = `Where the key in state is an old one, run \`pulumi up\` first, or give the new one in ${KEY_VARIABLE}.`;

/** One attempt, where neither `perDialTimeout` nor the deadline says something shorter. */
const LONGEST_ATTEMPT = 120_000;

export interface DialedConnection {
    readonly client: Client;
    readonly origin: Origin;
}

/** `origin`: where an earlier connection of the same operation ended, and this one must end, too. */
export interface DialTarget {
    readonly host: string;
    readonly origin: Origin | undefined;
}

/** Makes the stream to speak SSH on: undefined = an own TCP connection. Called for each attempt (a bastion). */
export type OpenStream = ((deadline: Deadline) => Promise<Duplex>) | undefined;

/**
 * Dials until it works, `dialErrorLimit` is passed or the deadline comes. Wrong credentials, a wrong host key and a
 * ConnectionError that says so are reported at once. Throws ConnectionError, HostKeyError, OtherMachineError, InputError.
 */
export async function dial(
    target: DialTarget,
    login: Login,
    open: OpenStream,
    deadline: Deadline,
): Promise<DialedConnection> {
    const { host, origin } = target;
    const given = login.hostKey === undefined ? undefined : parseHostKey(login.hostKey, host);
    const expected = origin?.hostKey ?? given;
    const credentials = credentialsFor(login, host);
    let pause = FIRST_PAUSE;
    for (let failures = 1; ; failures += 1) {
        try {
            return await dialWithAnyKey(target, login, credentials, expected, open, deadline);
        } catch (error) {
            if (!(error instanceof MkeError) || !error.retryable) throw error;
            const limitReached = login.dialErrorLimit >= 0 && failures > login.dialErrorLimit;
            if (limitReached || deadline.remaining <= pause) {
                throw afterAttempts(error, failures, {
                    port: login.port,
                    input: limitReached ? "connection.dialErrorLimit" : deadline.input,
                });
            }
            deadline.tell(error.message);
        }
        await sleep(pause);
        pause = Math.min(pause * PAUSE_FACTOR, LONGEST_PAUSE);
    }
}

/**
 * A fingerprint does not tell the key's type, and a host has several keys: where the one it shows first is another, the
 * other types are asked for before the key counts as wrong.
 */
async function dialWithAnyKey(
    target: DialTarget,
    login: Login,
    credentials: Credentials,
    expected: ExpectedHostKey | undefined,
    open: OpenStream,
    deadline: Deadline,
): Promise<DialedConnection> {
    let types = expected?.type === undefined ? KEY_TYPES : [expected.type];
    const presented: Buffer[] = [];
    for (;;) {
        const attempt = new Attempt(target, login, credentials, expected, types);
        try {
            return await attempt.run(open, deadline);
        } catch (error) {
            const { wrongKey } = attempt;
            const noOtherKey = presented.length > 0 || expected?.type !== undefined;
            if (wrongKey === undefined && !(noOtherKey && isNoCommonKey(error))) throw error;
            if (wrongKey !== undefined) presented.push(wrongKey);
            types = types.filter((type) => wrongKey === undefined || type !== typeOf(wrongKey));
            const exhausted = wrongKey === undefined || types.length === 0 || expected?.type !== undefined;
            if (exhausted) throw wrongHostKey(target, expected, presented);
        }
    }
}

/** One connection attempt. */
class Attempt {
    /** The key the host showed, where it was another than expected. */
    wrongKey: Buffer | undefined;
    private key: Buffer = Buffer.alloc(0);
    private socket: Socket | undefined;
    private readonly host: string;
    private readonly client = new Client();
    private readonly offers = new Offers();

    constructor(
        private readonly target: DialTarget,
        private readonly login: Login,
        private readonly credentials: Credentials,
        private readonly expected: ExpectedHostKey | undefined,
        private readonly types: readonly string[],
    ) {
        this.host = target.host;
    }

    async run(open: OpenStream, deadline: Deadline): Promise<DialedConnection> {
        const own = this.login.perDialTimeout > 0 ? this.login.perDialTimeout * 1000 : LONGEST_ATTEMPT;
        const limit = deadline.within(own);
        const stream = await open?.(limit);
        await this.connect(stream, limit);
        const hostKey = { type: typeOf(this.key), fingerprint: fingerprintOf(this.key) };
        return { client: this.client, origin: originOf(this.host, this.socket?.remoteAddress, hostKey) };
    }

    private connect(stream: Duplex | undefined, limit: Deadline): Promise<void> {
        const { client } = this;
        return new Promise((resolve, reject) => {
            const seconds = Math.round(limit.remaining / 100) / 10;
            const timer = setTimeout(
                () => fail(this.failure(`no answer on port ${this.login.port} within ${seconds} s`)),
                timerLength(limit),
            );
            const fail = (error: Error): void => {
                clearTimeout(timer);
                client.end();
                client.destroy();
                stream?.destroy();
                reject(error);
            };
            // Stays for good: an error after a failed attempt must not be an unhandled one.
            client.on("error", (error: Error & { level?: string }) => {
                // The agent is only one way to log in; the server's verdict comes separately.
                if (error.level !== "agent") fail(this.describe(error));
            });
            client.once("close", () => fail(this.failure("the connection was closed while it was being set up")));
            client.once("ready", () => {
                clearTimeout(timer);
                client.removeAllListeners("close");
                // Programs are small messages that wait for answers: Nagle would add 40 ms to each.
                client.setNoDelay(true);
                resolve();
            });
            client.on("keyboard-interactive", (_name, _text, _language, prompts, finish) =>
                finish(answersTo(prompts, this.login.password)),
            );
            try {
                client.connect(this.config(stream));
            } catch (error) {
                fail(this.failure(messageOf(error), false));
            }
        });
    }

    private config(stream: Duplex | undefined): ConnectConfig {
        return {
            ...this.credentials.config,
            sock: stream ?? this.ownSocket(),
            algorithms: { serverHostKey: algorithmsFor(this.types) as never },
            keepaliveInterval: KEEPALIVE_INTERVAL,
            keepaliveCountMax: KEEPALIVE_COUNT,
            // Our own timer covers name resolution and TCP too.
            readyTimeout: 0,
            hostVerifier: (key: Buffer) => this.verify(key),
            debug: this.offers.hear,
        };
    }

    /** Our own, so that we learn which of a name's addresses it reached. */
    private ownSocket(): Socket {
        const { host, origin } = this.target;
        return (this.socket = connect({ host: origin?.address ?? host, port: this.login.port }));
    }

    private verify(key: Buffer): boolean {
        this.key = key;
        const right = this.expected === undefined || this.expected.fingerprint === fingerprintOf(key);
        if (!right) this.wrongKey = key;
        return right;
    }

    private describe(error: Error & { level?: string; code?: string }): ConnectionError {
        const isRefused = error.level === "client-authentication" || TOO_MANY_FAILURES.test(error.message);
        if (isRefused) return this.authenticationFailed(error);
        const missing = this.offers.missing(error.message);
        if (missing !== undefined) return this.nothingInCommon(missing, error);
        const known: Readonly<Record<string, string>> = {
            ECONNREFUSED: `connection refused on port ${this.login.port}`,
            ENOTFOUND: "the name is not known",
            EAI_AGAIN: "the name cannot be resolved now",
            EHOSTUNREACH: "no route to the host",
            ENETUNREACH: "no route to the network",
            ETIMEDOUT: `no answer on port ${this.login.port}`,
            ECONNRESET: "the connection was reset",
        };
        return this.failure(known[error.code ?? ""] ?? error.message, true, error);
    }

    private authenticationFailed(cause: Error): ConnectionError {
        return new ConnectionError({
            stage: "connecting",
            host: this.host,
            what: `the host does not let ${this.login.user} in (tried: ${this.credentials.ways.join(", ")})`,
            advice: `Check connection.user and the credentials; is the public key in the user's authorized_keys? ${ROTATED}`,
            retryable: false,
            cause,
        });
    }

    /** It will be the same the next time. */
    private nothingInCommon({ what, setting }: { what: string; setting: string }, cause: Error): ConnectionError {
        return new ConnectionError({
            stage: "connecting",
            host: this.host,
            what,
            advice: `Allow one of those supported here with ${setting} in the host's sshd_config (\`sshd -T | grep -i ${setting}\` shows what it has).`,
            retryable: false,
            cause,
        });
    }

    private failure(what: string, retryable = true, cause?: unknown): ConnectionError {
        return new ConnectionError({ stage: "connecting", host: this.host, what, retryable, cause });
    }
}

function isNoCommonKey(error: unknown): boolean {
    return /no matching host key/i.test(messageOf(error));
}

function wrongHostKey(
    { host, origin }: DialTarget,
    expected: ExpectedHostKey | undefined,
    presented: readonly Buffer[],
): HostKeyError | OtherMachineError {
    const shown = presented.map((key) => `${typeOf(key)} ${fingerprintOf(key)}`).join(", ");
    if (origin !== undefined) return movedAway(host, origin, shown || "none of that type");
    const wanted = [expected?.type, expected?.fingerprint].filter((part) => part !== undefined).join(" ");
    return new HostKeyError({
        stage: "connecting",
        host,
        what: `the host key is not the expected one: hostKey is ${wanted}, the host shows ${shown || "none of that type"}`,
        advice: "If the machine was rebuilt, correct hostKey. Otherwise somebody may be in between: do not go on.",
    });
}

/** A bastion that waits for a host that is down runs into a time-out: that too is a connection that was not made. */
function afterAttempts(error: MkeError, attempts: number, limit: Limit): MkeError {
    const { details } = error;
    const what = attempts > 1 ? `${details.what} (after ${attempts} attempts)` : details.what;
    const refused = error instanceof ConnectionError && error.refused;
    return new ConnectionError({ ...details, what, advice: details.advice ?? noWayAdvice(limit), refused });
}

/** What ended the attempts. */
export interface Limit {
    readonly port: number;
    /** Name of the input; undefined where a limit of our own did. */
    readonly input: string | undefined;
}

/** What to do about a host that does not answer by SSH. */
export function noWayAdvice({ port, input }: Limit): string {
    const longer = input === undefined ? "" : ` A machine that needs longer to boot: raise \`${input}\`.`;
    return (
        `Is the host up, is sshd running, and does nothing between here and there block port ${port}? ` +
        `Check \`host\`, \`connection.port\` and \`connection.proxy\`.${longer}`
    );
}
