import type { Deadline } from "../../deadline";

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

export function timerLength(deadline: Deadline): number {
    return Math.min(deadline.remaining, LONGEST_TIMER);
}
