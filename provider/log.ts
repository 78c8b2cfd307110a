import { withoutShortStarts } from "./short-stages";

/** From the fewest lines to the most. */
const LEVELS = ["quiet", "normal", "debug"] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Environment variable that says how much is told; Pulumi hands its environment on to the provider process. */
export const LOG_VARIABLE = "PULUMI_MKE_LOG";

/**
 * Progress lines. In a provider process stdout is what Pulumi shows, under the stack's row, so every line
 * starts with the resource's name. Secrets never get here, at no level: callers log names, numbers and states only.
 */
export interface Log {
    /**
     * One line, without the prefix. `from`: the first level that tells it, `normal` without it. `quiet` is for warnings and what is
     * refused, `debug` for what a person misses only when they look for a fault.
     */
    line(text: string, from?: LogLevel): void;
}

/** `prefix`: name of the resource. */
export function prefixedLog(
    prefix: string,
    write: (line: string) => void = printLine,
    level: LogLevel = levelNow(prefix, write),
): Log {
    const tell = withoutShortStarts((line, from) => {
        if (LEVELS.indexOf(from) <= LEVELS.indexOf(level)) write(line);
    });
    return { line: (text, from = "normal") => tell(`${prefix}: ${text}`, from) };
}

/** Nobody hears it. */
export const silentLog: Log = { line: () => undefined };

/** What the environment asks for; undefined: a word that is no level. */
export function levelIn(environment: NodeJS.ProcessEnv): LogLevel | undefined {
    const word = environment[LOG_VARIABLE] ?? "";
    return word === "" ? "normal" : LEVELS.find((level) => level === word);
}

let isUnknownTold = false;

/** The word itself is not told: nobody knows what it is. */
function levelNow(prefix: string, write: (line: string) => void): LogLevel {
    const level = levelIn(process.env);
    if (level === undefined && !isUnknownTold) {
        isUnknownTold = true;
        write(`${prefix}: ${LOG_VARIABLE} is none of ${LEVELS.join(", ")}, and counts as normal`);
    }
    return level ?? "normal";
}

// A killed CLI leaves pipes without a reader; the operation goes on to a safe end without being heard.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

function printLine(line: string): void {
    process.stdout.write(`${line}\n`);
}
