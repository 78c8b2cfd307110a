import type { Deadline } from "../deadline";
import { CommandError } from "../errors";
import type { HostOperation } from "./operation";

const JOURNAL_LINES = 20;

/**
 * Fails, with the end of the journal, once k0s has failed or was restarted that often: then the reason is in the journal,
 * and to wait on is of no use. systemd restarts it every 10 s.
 */
export async function requireServiceStays(
    { target, kind }: HostOperation,
    { stage, restarts }: { readonly stage: string; readonly restarts: number },
    deadline: Deadline,
): Promise<void> {
    const state = await target.serviceState(kind, deadline);
    if (state === undefined || (state.active !== "failed" && state.restarts < restarts)) return;
    throw new CommandError({
        stage,
        host: target.address,
        what: `k0s does not stay up (${state.active}, ${state.restarts} restarts)`,
        output: await target.journal(kind, JOURNAL_LINES, deadline),
        advice: "The reason is in the lines above. Nothing else was changed; run `pulumi up` again once it is repaired.",
    });
}
