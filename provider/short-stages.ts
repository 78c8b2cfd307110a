import type { LogLevel } from "./log";

/** A stage that is over within this many milliseconds is told in one line. */
const SHORT = 1000;

type Tell = (line: string, from: LogLevel) => void;

/**
 * Holds the line back with which a stage starts (`draining …`) until it has taken a while: Pulumi shows every line twice, and most
 * stages end at once with a line that says it all (`draining … 3 pods evicted after 0.4 s`). Nothing is lost that a person
 * could wait for, and the order stays. A stage whose start was told has its end told too, however little it did.
 */
export function withoutShortStarts(write: Tell, short = SHORT): Tell {
    let held: { readonly line: string; readonly timer: NodeJS.Timeout } | undefined;
    let begun: string | undefined;
    const begin = (line: string): void => {
        held = undefined;
        begun = line;
        write(line, "normal");
    };
    return (line, from) => {
        if (held !== undefined) {
            clearTimeout(held.timer);
            if (line.startsWith(`${held.line} `)) held = undefined;
            else begin(held.line);
        }
        if (line.endsWith(" …")) {
            // It keeps no process alive that has nothing else to do.
            held = { line, timer: setTimeout(() => begin(line), short).unref() };
            return;
        }
        const isOfBegun = begun !== undefined && line.startsWith(`${begun} `);
        write(line, isOfBegun && from === "debug" ? "normal" : from);
    };
}
