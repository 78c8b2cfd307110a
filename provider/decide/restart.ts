import type { Member } from "../facts/cluster";
import { countVoters } from "./plan-common";

/** Whether a controller's k0s may be restarted for other settings, and what that costs. */
export type Restart =
    | { readonly ok: true; /** etcd has no quorum meanwhile, so nobody has an API. */ readonly withoutApi: boolean }
    | { readonly ok: false; readonly why: string };

/**
 * A restart that may as well wait: every other member must be a healthy voter, so that one at most is away at a time. With one
 * or two voters there is no quorum meanwhile, however it is done; the target itself may be broken, and this its mending.
 */
export function mayRestart(members: readonly Member[], own: Member | undefined): Restart {
    if (own === undefined) return no("etcd does not list it as a member");
    const others = members.filter(({ id }) => id !== own.id);
    if (own.learner || others.some(({ learner }) => learner)) return no("an etcd member is still a learner");
    if (others.some(({ name }) => name === "")) return no("an etcd member was added and never started");
    const { voters, healthy } = countVoters({ members: others });
    if (healthy < voters) return no(`${healthy} of ${voters} other voting members are healthy; all of them must be`);
    return { ok: true, withoutApi: members.length <= 2 };
}

function no(why: string): Restart {
    return { ok: false, why };
}
