import { Deadline } from "../deadline";
import { requireEngine } from "../engine";
import type { Log } from "../log";
import { tellingProgress } from "../progress";

/** What a stage says when it is over, e.g. `voter`; nothing means `done`. */
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- most stages have nothing to add
export type Outcome = string | void;

/**
 * Runs one named stage: a line when it starts, lines while it takes long, a line when it ends, a deadline of its own.
 *
 *     c2: joining etcd …
 *     c2: joining etcd … 10 s so far: member f03 is a learner
 *     c2: joining etcd … voter after 8.4 s
 *
 * Every stage can be repeated: it looks first and does only what is missing. `belongsTogether`: it ends or takes back what the
 * stage before it began, so it starts although the engine has gone meanwhile (safety.md 18).
 */
export async function runStage(
    log: Log,
    name: string,
    seconds: number,
    body: (deadline: Deadline) => Promise<Outcome>,
    { belongsTogether = false }: { readonly belongsTogether?: boolean } = {},
): Promise<void> {
    if (!belongsTogether) await requireEngine(name);
    log.line(`${name} …`);
    const started = performance.now();
    const elapsed = (): string => `${((performance.now() - started) / 1000).toFixed(1)} s`;
    try {
        const outcome = await tellingProgress(log, name, Deadline.afterSeconds(seconds), body);
        log.line(`${name} … ${outcome ?? "done"} after ${elapsed()}`);
    } catch (error) {
        log.line(`${name} … failed after ${elapsed()}`);
        throw error;
    }
}
