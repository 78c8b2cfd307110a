/** A stage that is over within this many milliseconds is told in one line. */
const SHORT = 1000;

/**
 * Holds the line back with which a stage starts (`draining …`) until it has taken a while: Pulumi shows every line twice, and most
 * stages end at once with a line that says it all (`draining … 3 pods evicted after 0.4 s`). Nothing is lost that a person
 * could wait for, and the order stays.
 */
export function withoutShortStarts(write: (line: string) => void, short = SHORT): (line: string) => void {
    let held: { readonly line: string; readonly timer: NodeJS.Timeout } | undefined;
    return (line) => {
        if (held !== undefined) {
            clearTimeout(held.timer);
            if (!line.startsWith(`${held.line} `)) write(held.line);
            held = undefined;
        }
        if (!line.endsWith(" …")) return write(line);
        const tell = (): void => {
            held = undefined;
            write(line);
        };
        // It keeps no process alive that has nothing else to do.
        held = { line, timer: setTimeout(tell, short).unref() };
    };
}
