/**
 * The errors of this package: `<stage> on <host>: <what failed> (exit N)`, the last lines of output, what to do.
 * Whether trying again can help is a property of the error, not of the place that catches it.
 */

import type { Topic } from "./decide/refusal";
import { documentPath } from "./documents";
import { firstLine } from "./text";

/** The output a person needs to see why a command failed; more is noise in a Pulumi summary. */
const OUTPUT_LINES = 12;

export interface ErrorDetails {
    /** What was being done, as in the log: `joining etcd`. */
    readonly stage: string;
    /** Address of the host it was done on; absent where no single host is concerned. */
    readonly host?: string | undefined;
    /** What failed, in one clause. */
    readonly what: string;
    readonly exitCode?: number | undefined;
    /** Output of the failed command. Callers pass only text that holds no secret. */
    readonly output?: string | undefined;
    /** What the reader should do now. */
    readonly advice?: string | undefined;
    /** Section of `docs/runbook.md` that says how to look and how to repair. */
    readonly topic?: Topic | undefined;
    readonly cause?: unknown;
}

export abstract class MkeError extends Error {
    /** True where running the same step again may succeed without anybody changing anything. */
    abstract readonly retryable: boolean;

    constructor(readonly details: ErrorDetails) {
        super(describe(details), { cause: details.cause });
        this.name = new.target.name;
    }

    get topic(): Topic | undefined {
        return this.details.topic;
    }
}

/** The program asks for something impossible; nothing was contacted. */
export class InputError extends MkeError {
    readonly retryable = false;
}

/** A rule of safety or a cell of the matrix forbids it; nothing was changed. */
export class RefusedError extends MkeError {
    readonly retryable = false;
}

/** Another machine answers at the address than the one that the operation was decided on; nothing was done on it. */
export class OtherMachineError extends MkeError {
    readonly retryable = false;
}

/** A host or a server behind it could not be reached, or stopped answering. */
export class ConnectionError extends MkeError {
    readonly retryable: boolean;
    /** The machine itself said that nothing listens on the port; any other failure proves nothing of it. */
    readonly refused: boolean;

    constructor(details: ErrorDetails & { readonly retryable?: boolean; readonly refused?: boolean }) {
        super(details);
        this.retryable = details.retryable ?? true;
        this.refused = details.refused ?? false;
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

    constructor(details: ErrorDetails & { readonly code?: number | undefined; readonly retryable?: boolean }) {
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
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}

/** The same in one line, for a log: without the output of commands and the advice. */
export function reasonOf(error: unknown): string {
    return firstLine(messageOf(error));
}

function describe({ stage, host, what, exitCode, output, advice, topic }: ErrorDetails): string {
    const where = host === undefined ? stage : `${stage} on ${host}`;
    const exit = exitCode === undefined ? "" : ` (exit ${exitCode})`;
    const tail = lastLines(output ?? "", OUTPUT_LINES).map((line) => `  ${line}`);
    const runbook = topic === undefined ? [] : [`Runbook: ${documentPath("runbook.md")}#${topic}`];
    return [`${where}: ${what}${exit}`, ...tail, ...(advice ? [advice] : []), ...runbook].join("\n");
}

function lastLines(text: string, count: number): string[] {
    return text
        .split("\n")
        .map((line) => line.trimEnd())
        .filter((line) => line !== "")
        .slice(-count);
}
