import { Deadline } from "../deadline";
import { requireEngine } from "../engine";
import type { Log, LogLevel } from "../log";
import { tellingProgress } from "../progress";

/** The end of a stage that other levels of the log tell than that of one that did its work. */
export interface SpecialEnd {
    readonly text: string;
    readonly from: LogLevel;
}

/** What a stage says when it is over, e.g. `voter`; nothing means `done`. */
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- most stages have nothing to add
export type Outcome = string | SpecialEnd | void;

/** The stage looked, and there was nothing for it to do. `why`: as the log of somebody who looks for a fault has it. */
export function nothingToDo(why: string): SpecialEnd {
    return { text: why, from: "debug" };
}

/** The stage is over, and left something that a person should know of. */
export function withWarning(text: string): SpecialEnd {
    return { text, from: "quiet" };
}

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
        const outcome = (await tellingProgress(log, name, Deadline.afterSeconds(seconds), body)) ?? "done";
        const { text, from } = typeof outcome === "string" ? { text: outcome, from: undefined } : outcome;
        log.line(`${name} … ${text} after ${elapsed()}`, from);
    } catch (error) {
        log.line(`${name} … failed after ${elapsed()}`, "quiet");
        throw error;
    }
}
