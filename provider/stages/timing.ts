import { Deadline } from "../deadline";

/** Limits nobody needs to tune: a command on a host, a set of read-only checks. Seconds. */
export const COMMAND_SECONDS = 60;
export const CHECK_SECONDS = 60;

/** How long the lock outlives its holder: normally, and while the API itself may be away (safety.md 14). Seconds. */
export const SHORT_LEASE_SECONDS = 60;
export const JOIN_LEASE_SECONDS = 15 * 60;

export function commandDeadline(): Deadline {
    return Deadline.afterSeconds(COMMAND_SECONDS);
}
