/**
 * The errors of this package: `<stage> on <host>: <what failed> (exit N)`, the last lines of output, what to do.
 * Whether trying again can help is a property of the error, not of the place that catches it.
 */

/** The output a person needs to see why a command failed; more is noise in a Pulumi summary. */
const OUTPUT_LINES = 12;

export interface ErrorDetails {
    /** What was being done, as in the log: `joining etcd`. */
    readonly stage: string;
    /** Address of the host it was done on; absent where no single host is concerned. */
    readonly host?: string;
    /** What failed, in one clause. */
    readonly what: string;
    readonly exitCode?: number;
    /** Output of the failed command. Callers pass only text that holds no secret. */
    readonly output?: string;
    /** What the reader should do now. */
    readonly advice?: string;
    readonly cause?: unknown;
}

export abstract class MkeError extends Error {
    /** True where running the same step again may succeed without anybody changing anything. */
    abstract readonly retryable: boolean;

    constructor(readonly details: ErrorDetails) {
        super(describe(details), { cause: details.cause });
        this.name = new.target.name;
    }
}

/** The program asks for something impossible; nothing was contacted. */
export class InputError extends MkeError {
    readonly retryable = false;
}

/** A rule of safety or a cell of the matrix forbids it; nothing was changed. */
export class RefusedError extends MkeError {
    readonly retryable = false;
    /** Section of `docs/runbook.md` that says how to look and how to repair. */
    readonly topic: string | undefined;

    constructor(details: ErrorDetails & { readonly topic?: string }) {
        super(details.topic ? { ...details, advice: adviceWithTopic(details.advice, details.topic) } : details);
        this.topic = details.topic;
    }
}

/** A host or a server behind it could not be reached, or stopped answering. */
export class ConnectionError extends MkeError {
    readonly retryable: boolean;

    constructor(details: ErrorDetails & { readonly retryable?: boolean }) {
        super(details);
        this.retryable = details.retryable ?? true;
    }
}

/** The host presents another key than `hostKey` names: never retried, never worked around. */
export class HostKeyError extends ConnectionError {
    constructor(details: ErrorDetails) {
        super({ ...details, retryable: false });
    }
}

/** A command on a host ended with a failure. */
export class CommandError extends MkeError {
    readonly retryable: boolean;

    constructor(details: ErrorDetails & { readonly retryable?: boolean }) {
        super(details);
        this.retryable = details.retryable ?? false;
    }
}

/** The Kubernetes API, etcd or a registry answered with an error. */
export class ApiError extends MkeError {
    readonly retryable: boolean;
    /** HTTP status or gRPC code, where there is one. */
    readonly code: number | undefined;

    constructor(details: ErrorDetails & { readonly code?: number; readonly retryable?: boolean }) {
        super(details);
        this.code = details.code;
        this.retryable = details.retryable ?? false;
    }
}

/** A wait ended without the state waited for. `what` says what was last seen. */
export class TimeoutError extends MkeError {
    readonly retryable = true;
}

/** The same failure, with one more sentence for the reader. */
export function withAdvice(error: CommandError | TimeoutError, sentence: string): CommandError | TimeoutError {
    const { advice } = error.details;
    const details = { ...error.details, advice: advice === undefined ? sentence : `${advice} ${sentence}` };
    return error instanceof TimeoutError
        ? new TimeoutError(details)
        : new CommandError({ ...details, retryable: error.retryable });
}

/** Somebody else holds the lock, or ours was lost. */
export class LockError extends MkeError {
    readonly retryable = true;

    /** `topic`: section of `docs/runbook.md`. */
    constructor(details: ErrorDetails & { readonly topic?: string }) {
        super(details.topic ? { ...details, advice: adviceWithTopic(details.advice, details.topic) } : details);
    }
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}

function describe({ stage, host, what, exitCode, output, advice }: ErrorDetails): string {
    const where = host === undefined ? stage : `${stage} on ${host}`;
    const exit = exitCode === undefined ? "" : ` (exit ${exitCode})`;
    const tail = lastLines(output ?? "", OUTPUT_LINES).map((line) => `  ${line}`);
    return [`${where}: ${what}${exit}`, ...tail, ...(advice ? [advice] : [])].join("\n");
}

function adviceWithTopic(advice: string | undefined, topic: string): string {
    return [...(advice ? [advice] : []), `Runbook: docs/runbook.md#${topic}`].join("\n");
}

function lastLines(text: string, count: number): string[] {
    return text
        .split("\n")
        .map((line) => line.trimEnd())
        .filter((line) => line !== "")
        .slice(-count);
}
