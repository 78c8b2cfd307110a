import { Deadline } from "../deadline";
import { requireEngine } from "../engine";
import { type Log, seldom } from "../log";

/** Waits that end sooner need no line of their own, in milliseconds. */
const LONG_WAIT = 15_000;

/** What a stage says when it is over, e.g. `voter`; nothing means `done`. */
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- most stages have nothing to add
export type Outcome = string | void;

/**
 * Runs one named stage: a line when it starts, a line when it ends, a deadline of its own, and where it waits for long, from
 * time to time a line about what it waits for.
 *
 *     c2: joining etcd …
 *     c2: joining etcd … still a learner
 *     c2: joining etcd … voter after 8.4 s
 *
 * Every stage can be repeated: it looks first and does only what is missing.
 */
export async function runStage(
    log: Log,
    name: string,
    seconds: number,
    body: (deadline: Deadline) => Promise<Outcome>,
): Promise<void> {
    await requireEngine(name);
    log.line(`${name} …`);
    const started = performance.now();
    const isTime = seldom(LONG_WAIT);
    const tell = (seen: string): void => {
        if (isTime()) log.line(`${name} … ${seen.split("\n")[0] ?? ""}`);
    };
    const elapsed = (): string => `${((performance.now() - started) / 1000).toFixed(1)} s`;
    try {
        const outcome = await body(Deadline.afterSeconds(seconds).reportingTo(tell));
        log.line(`${name} … ${outcome ?? "done"} after ${elapsed()}`);
    } catch (error) {
        log.line(`${name} … failed after ${elapsed()}`);
        throw error;
    }
}
