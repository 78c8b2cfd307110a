import type { HostFacts } from "../facts/host";
import type { Refusal } from "./refusal";

/**
 * k0sctl holds its lock on the host: whatever changes it waits, and refuses (safety.md 22). Its lock is stale 30 s after its last
 * touch (k0s-interfaces.md 7.4), so a look again may find it gone.
 */
export function refuseBesideK0sctl(host: HostFacts | undefined): Refusal | undefined {
    const lock = host?.k0sctlLock;
    if (lock === undefined) return undefined;
    return {
        kind: "refuse",
        what: `k0sctl works on this host (${lock.holder})`,
        evidence: [],
        topic: "lock-held",
        lookAgain: true,
        advice:
            "Wait until that k0sctl has ended, or end it there: its lock (/run/lock/k0sctl) counts for 30 s after it was last " +
            "touched. Then run again.",
    };
}
