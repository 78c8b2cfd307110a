import { type Deadline, waitFor } from "../deadline";
import type { Operation } from "./operation";
import { tellingProgress } from "../progress";

const STAGE = "holding the lock";

/**
 * Goes on only while the lock is still ours: an operation that slept through its lock's life changes nothing more when it
 * wakes up. An API that is away for a moment, as after a change of members, is waited for.
 */
export function proveLock(operation: Operation, deadline: Deadline): Promise<void> {
    return patiently(operation, () => operation.held.prove(), deadline);
}

/** Says how long the lock lives without a renewal, with the same patience: joins and leaves take the API away. */
export function stretchLock(operation: Operation, seconds: number, deadline: Deadline): Promise<void> {
    return patiently(operation, () => operation.held.stretch(seconds), deadline);
}

async function patiently({ cluster, log }: Operation, act: () => Promise<void>, limit: Deadline): Promise<void> {
    await tellingProgress(log, STAGE, limit, (deadline) =>
        waitFor<true>({
            stage: STAGE,
            host: cluster.helper.address,
            deadline,
            look: async () => {
                await act();
                return { done: true };
            },
        }),
    );
}
