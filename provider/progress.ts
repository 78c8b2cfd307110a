import type { Deadline } from "./deadline";
import type { Log } from "./log";

/** Milliseconds until the first line about a wait; the pause doubles from line to line. */
const FIRST_LINE = 10_000;
const LONGEST_PAUSE = 60_000;

/**
 * Runs the action and says every now and then that it still runs, and what it waits for, as the last look found it:
 *
 *     c2: joining etcd … 10 s so far: member f03 is a learner
 *
 * The action is given the deadline back, through which a wait tells what it sees.
 */
export async function tellingProgress<T>(
    log: Log,
    name: string,
    deadline: Deadline,
    action: (deadline: Deadline) => Promise<T>,
    firstLine = FIRST_LINE,
): Promise<T> {
    let seen: string | undefined;
    const started = performance.now();
    const tell = (): void => {
        const seconds = Math.round((performance.now() - started) / 1000);
        log.line(`${name} … ${seconds} s so far${seen === undefined ? "" : `: ${firstLineOf(seen)}`}`);
    };
    const stop = repeatedly(tell, firstLine);
    try {
        return await action(deadline.heardBy((what) => (seen = what)));
    } finally {
        stop();
    }
}

/** Answers how to end it. */
function repeatedly(action: () => void, firstPause: number): () => void {
    let timer: NodeJS.Timeout;
    const next = (pause: number): void => {
        timer = setTimeout(() => {
            action();
            next(Math.min(pause * 2, LONGEST_PAUSE));
        }, pause);
    };
    next(firstPause);
    return () => clearTimeout(timer);
}

/** The rest of an error is what the remote programs said. */
function firstLineOf(text: string): string {
    return text.split("\n")[0] ?? "";
}
