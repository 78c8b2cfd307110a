import { withoutShortStarts } from "./short-stages";

/**
 * Progress lines. In a provider process stdout is what Pulumi shows, under the stack's row, so every line
 * starts with the resource's name. Secrets never get here: callers log names, numbers and states only.
 */
export interface Log {
    /** One line, without the prefix. */
    line(text: string): void;
}

export function prefixedLog(prefix: string, write: (line: string) => void = printLine): Log {
    const tell = withoutShortStarts(write);
    return { line: (text) => tell(`${prefix}: ${text}`) };
}

/** The first pause between two lines about the same wait, in milliseconds; it doubles up to the last. */
const FIRST_PAUSE = 15_000;
const LAST_PAUSE = 120_000;

/**
 * Tells when a line about a wait that goes on is due: after `first` milliseconds (0: at once), then more and more seldom.
 * `now`: a clock in milliseconds.
 */
export function seldom(first = 0, now: () => number = () => performance.now()): () => boolean {
    let due = now() + first;
    let pause = FIRST_PAUSE;
    return () => {
        if (now() < due) return false;
        due = now() + pause;
        pause = Math.min(pause * 2, LAST_PAUSE);
        return true;
    };
}

export const silentLog: Log = { line: () => undefined };

// A killed CLI leaves pipes without a reader; the operation goes on to a safe end without being heard.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

function printLine(line: string): void {
    process.stdout.write(`${line}\n`);
}
