import { ApiError, ConnectionError, messageOf, MkeError } from "../../errors";

const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;

/** gRPC answers that pass by themselves, by their text: their codes are shared with lasting ones. */
const PASSING = [
    "unhealthy cluster",
    "leader changed",
    "no leader",
    "request timed out",
    "too many requests",
    "not ready",
    "raft: stopped",
    "server stopped",
];
/** Lasting ones that come with a passing code. */
const LASTING = ["not enough started members", "not supported for learner", "member not found", "can only promote"];

const ADVICE_NOT_ENOUGH =
    "Too few other members run to keep a majority; look at the members with `k0s etcd member-list` and start the stopped ones first.";

export interface GrpcFailure {
    readonly code: number | undefined;
    readonly text: string;
}

/** etcd3 keeps code and text only in its message: `GRPCUnavailableError: 14 UNAVAILABLE: etcdserver: unhealthy cluster`. */
export function grpcFailure(error: unknown): GrpcFailure {
    const message = messageOf(error);
    const match = /^(?:\w+: )?(?<code>\d+) [A-Z_]+: (?<text>[^]*)$/.exec(message);
    return match?.groups
        ? { code: Number(match.groups["code"]), text: match.groups["text"] ?? "" }
        : { code: undefined, text: message };
}

export function isMemberNotFound(error: unknown): boolean {
    return grpcFailure(error).text.includes("member not found");
}

/**
 * The error of one call. `tunnelError` is why the connection below failed, if it did: etcd's own answers always name
 * `etcdserver` or `raft`, everything else with the code UNAVAILABLE is the connection.
 */
export function etcdError(host: string, call: string, error: unknown, tunnelError?: unknown): MkeError {
    if (error instanceof MkeError) return error;
    const { code, text } = grpcFailure(error);
    const answered = /etcdserver|raft|rpc/.test(text);
    if (!answered && (code === UNAVAILABLE || code === DEADLINE_EXCEEDED || code === undefined)) {
        return connectionError(host, call, text, tunnelError ?? error);
    }
    const lasting = LASTING.some((part) => text.includes(part));
    return new ApiError({
        stage: "asking etcd",
        host,
        what: `${call}: ${text}`,
        code,
        retryable: !lasting && (code === UNAVAILABLE || PASSING.some((part) => text.includes(part))),
        advice: text.includes("not enough started members") ? ADVICE_NOT_ENOUGH : undefined,
        cause: error,
    });
}

function connectionError(host: string, call: string, text: string, cause: unknown): MkeError {
    if (cause instanceof MkeError) return cause;
    const reason = messageOf(cause).includes(text) ? text : `${text} (${messageOf(cause)})`;
    return new ConnectionError({ stage: "asking etcd", host, what: `${call}: ${reason}`, cause });
}
