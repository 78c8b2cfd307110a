import { setTimeout as sleep } from "node:timers/promises";
import type { Topic } from "./decide/refusal";
import { requireEngine } from "./engine";
import { LockError, messageOf, TimeoutError } from "./errors";
import { firstLine } from "./text";

/** A moment after which a step has failed. All times are milliseconds unless a name says otherwise. */
export class Deadline {
    private constructor(
        private readonly at: number,
        private readonly listener: ((seen: string) => void) | undefined,
        /** The input that sets it, as a person writes it: `timeouts.connect`; undefined where no input does. */
        readonly input: string | undefined,
    ) {}

    static after(milliseconds: number, input?: string): Deadline {
        return new Deadline(performance.now() + milliseconds, undefined, input);
    }

    static afterSeconds(seconds: number, input?: string): Deadline {
        return Deadline.after(seconds * 1000, input);
    }

    get remaining(): number {
        return Math.max(0, this.at - performance.now());
    }

    get expired(): boolean {
        return this.remaining === 0;
    }

    /** The earlier of this deadline and one that many milliseconds away. */
    within(milliseconds: number): Deadline {
        const at = performance.now() + milliseconds;
        return at < this.at ? new Deadline(at, this.listener, undefined) : this;
    }

    /** The same moment; the listener hears what those who wait until then see meanwhile. */
    heardBy(listener: (seen: string) => void): Deadline {
        return new Deadline(this.at, listener, this.input);
    }

    /** For a wait: what its last look found, in words for a person, without secrets. */
    tell(seen: string): void {
        this.listener?.(seen);
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
    /** Section of `docs/runbook.md`, for the error. */
    readonly topic?: Topic;
    /**
     * Waits on although the engine has gone (safety.md 18): what was begun may not be left before its end is seen. Default:
     * such a wait ends soon, with an EngineGoneError; the next run waits again.
     */
    readonly seesItThrough?: true;
}

export type Look<T> = { readonly done: T } | { readonly seen: string };

/**
 * Looks until the state is there. At the deadline it fails with what was last found; looks that failed since then are told
 * besides, but not one that only the deadline cut short. A look that throws ends the wait, except with a retryable error, which
 * counts as "not yet". A lost lock is none of those.
 */
export async function waitFor<T>(options: WaitOptions<T>): Promise<T> {
    const { deadline, maxInterval = 2000 } = options;
    let interval = options.interval ?? 200;
    let last: LastSeen = {};
    for (;;) {
        const look = await lookOnce(options.look);
        if ("done" in look) return look.done;
        if ("seen" in look) last = { found: look.seen };
        else if (!(deadline.expired && last.found !== undefined)) last = { ...last, failed: look.failed };
        deadline.tell(wordsFor(last));
        if (deadline.expired) throw timedOut(options, wordsFor(last));
        if (options.seesItThrough !== true) await requireEngine(options.stage, "waited for no longer");
        await sleep(Math.min(interval, deadline.remaining));
        interval = Math.min(interval * 2, maxInterval);
    }
}

/** What the last look that answered found, and how the last one after it failed. */
interface LastSeen {
    readonly found?: string;
    readonly failed?: string;
}

function wordsFor({ found, failed }: LastSeen): string {
    if (found === undefined) return failed ?? "";
    return failed === undefined ? found : `${found}; then a look failed: ${firstLine(failed)}`;
}

async function lookOnce<T>(look: () => Promise<Look<T>>): Promise<Look<T> | { readonly failed: string }> {
    try {
        return await look();
    } catch (error) {
        if (isRetryable(error)) return { failed: messageOf(error) };
        throw error;
    }
}

function isRetryable(error: unknown): boolean {
    return (error as { retryable?: unknown } | null)?.retryable === true && !(error instanceof LockError);
}

function timedOut<T>({ stage, host, advice, topic }: WaitOptions<T>, seen: string): TimeoutError {
    return new TimeoutError({ stage, host, what: `gave up waiting; last seen: ${seen}`, advice, topic });
}

/** setTimeout fires at once for anything longer. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The promise's outcome, or the error `onTimeout` makes if the deadline comes first. */
export async function before<T>(deadline: Deadline, promise: Promise<T>, onTimeout: () => Error): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const expiry = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(onTimeout()), timerLength(deadline));
    });
    // Whoever loses the race may still fail later; nobody would be listening.
    promise.catch(() => undefined);
    try {
        return await Promise.race([promise, expiry]);
    } finally {
        clearTimeout(timer);
    }
}

/** What is left of a deadline, as milliseconds that a timer takes. */
export function timerLength(deadline: Deadline): number {
    return Math.min(deadline.remaining, LONGEST_TIMER);
}
