import type { Deadline } from "./deadline";
import { type Log, prefixedLog } from "./log";
import { firstLine } from "./text";

/** Milliseconds between the first two lines about a wait; the pause doubles from line to line, up to the longest. */
const FIRST_PAUSE = 10_000;
const LONGEST_PAUSE = 60_000;

function longer(pause: number): number {
    return Math.min(pause * 2, LONGEST_PAUSE);
}

/**
 * Tells when a line about a wait is due that looks again and again: at once, then more and more seldom. `now`: a clock in
 * milliseconds.
 */
export function seldom(now: () => number = () => performance.now()): () => boolean {
    let due = now();
    let pause = FIRST_PAUSE;
    return () => {
        if (now() < due) return false;
        due = now() + pause;
        pause = longer(pause);
        return true;
    };
}

/**
 * Runs the action and says every now and then that it still runs, and what it waits for, as the last look found it:
 *
 *     c2: joining etcd … 10 s so far: member f03 is a learner
 *
 * The action is given the deadline back, through which a wait tells what it sees. `first`: milliseconds until the first line.
 */
export async function tellingProgress<T>(
    log: Log,
    name: string,
    deadline: Deadline,
    action: (deadline: Deadline) => Promise<T>,
    first = FIRST_PAUSE,
): Promise<T> {
    let seen: string | undefined;
    const started = performance.now();
    const tell = (): void => {
        const seconds = Math.round((performance.now() - started) / 1000);
        log.line(`${name} … ${seconds} s so far${seen === undefined ? "" : `: ${firstLine(seen)}`}`);
    };
    const stop = repeatedly(tell, first);
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
            next(longer(pause));
        }, pause);
    };
    next(firstPause);
    return () => clearTimeout(timer);
}

/** Runs one of Pulumi's operations on a resource of that name and says when it has ended well, at every level. */
export async function tellingEnd<T>(name: string, did: string, operation: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const result = await operation();
    prefixedLog(name).line(`${did} after ${((performance.now() - started) / 1000).toFixed(1)} s`, "quiet");
    return result;
}
