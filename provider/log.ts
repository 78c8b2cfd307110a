import { withoutShortStarts } from "./short-stages";

/**
 * Progress lines. In a provider process stdout is what Pulumi shows, under the stack's row, so every line
 * starts with the resource's name. Secrets never get here: callers log names, numbers and states only.
 */
export interface Log {
    /** One line, without the prefix. */
    line(text: string): void;
}

/** `prefix`: name of the resource. */
export function prefixedLog(prefix: string, write: (line: string) => void = printLine): Log {
    const tell = withoutShortStarts(write);
    return { line: (text) => tell(`${prefix}: ${text}`) };
}

/** Nobody hears it. */
export const silentLog: Log = { line: () => undefined };

// A killed CLI leaves pipes without a reader; the operation goes on to a safe end without being heard.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

function printLine(line: string): void {
    process.stdout.write(`${line}\n`);
}
