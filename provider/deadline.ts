import { setTimeout as sleep } from "node:timers/promises";
import { LockError, TimeoutError } from "./errors";

/** A moment after which a step has failed. All times are milliseconds unless a name says otherwise. */
export class Deadline {
    private constructor(
        private readonly at: number,
        /** Hears what a wait under this deadline saw last, after each look that did not end it. */
        readonly report: (seen: string) => void = () => undefined,
    ) {}

    static after(milliseconds: number): Deadline {
        return new Deadline(performance.now() + milliseconds);
    }

    static afterSeconds(seconds: number): Deadline {
        return Deadline.after(seconds * 1000);
    }

    get remaining(): number {
        return Math.max(0, this.at - performance.now());
    }

    get expired(): boolean {
        return this.remaining === 0;
    }

    /** The earlier of this deadline and one that many milliseconds away. */
    within(milliseconds: number): Deadline {
        return new Deadline(Math.min(this.at, performance.now() + milliseconds), this.report);
    }

    /** The same deadline, whose waits tell what they see. */
    reportingTo(report: (seen: string) => void): Deadline {
        return new Deadline(this.at, report);
    }
}

export interface WaitOptions<T> {
    readonly stage: string;
    readonly host?: string;
    readonly deadline: Deadline;
    /** First pause between two looks; it doubles up to `maxInterval`. Default 200. */
    readonly interval?: number;
    /** Default 2000. */
    readonly maxInterval?: number;
    /** Looks once. `done` ends the wait; otherwise `seen` says what was found, for the error. */
    readonly look: () => Promise<Look<T>>;
    readonly advice?: string;
}

export type Look<T> = { readonly done: T } | { readonly seen: string };

/**
 * Looks until the state is there. At the deadline it fails with what was last seen.
 * A look that throws ends the wait, except with a retryable error, which counts as "not yet". A lost lock is none of those.
 */
export async function waitFor<T>(options: WaitOptions<T>): Promise<T> {
    const { deadline, maxInterval = 2000 } = options;
    let interval = options.interval ?? 200;
    for (;;) {
        const look = await lookOnce(options.look);
        if ("done" in look) return look.done;
        if (deadline.expired) throw timedOut(options, look.seen);
        deadline.report(look.seen);
        await sleep(Math.min(interval, deadline.remaining));
        interval = Math.min(interval * 2, maxInterval);
    }
}

async function lookOnce<T>(look: () => Promise<Look<T>>): Promise<Look<T>> {
    try {
        return await look();
    } catch (error) {
        if (isRetryable(error)) return { seen: (error as Error).message };
        throw error;
    }
}

function isRetryable(error: unknown): boolean {
    return (error as { retryable?: unknown } | null)?.retryable === true && !(error instanceof LockError);
}

function timedOut<T>({ stage, host, advice }: WaitOptions<T>, seen: string): TimeoutError {
    return new TimeoutError({
        stage,
        ...(host === undefined ? {} : { host }),
        what: `gave up waiting; last seen: ${seen}`,
        ...(advice === undefined ? {} : { advice }),
    });
}
