import { type Deadline, waitFor } from "../deadline";
import type { Operation } from "../pipelines/operation";

/**
 * Goes on only while the lock is still ours: an operation that slept through its lock's life changes nothing more when it
 * wakes up. An API that is away for a moment, as after a change of members, is waited for.
 */
export async function proveLock({ held, cluster }: Operation, deadline: Deadline): Promise<void> {
    await waitFor<true>({
        stage: "holding the lock",
        host: cluster.helper.address,
        deadline,
        look: async () => {
            await held.prove();
            return { done: true };
        },
    });
}

/** Says how long the lock lives without a renewal, with the same patience: joins and leaves take the API away. */
export async function stretchLock({ held, cluster }: Operation, seconds: number, deadline: Deadline): Promise<void> {
    await waitFor<true>({
        stage: "holding the lock",
        host: cluster.helper.address,
        deadline,
        look: async () => {
            await held.stretch(seconds);
            return { done: true };
        },
    });
}
