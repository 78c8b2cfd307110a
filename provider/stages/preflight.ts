import type { Deadline } from "../deadline";
import { type ClockLook, preflightProblems } from "../decide/preflight";
import { unchanged } from "../decide/refusal";
import { RefusedError } from "../errors";
import type { HostFacts } from "../facts/host";
import type { HostOperation } from "./operation";
import type { Outcome } from "./stage";

/** Host-level checks of a host that is about to receive a fresh k0s (spec/002, "Pre-flight checks"). Changes nothing. */
export async function preflight(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { inputs } = operation;
    const { host, look } = await lookAtClock(operation, deadline);
    const problems = preflightProblems(host, inputs.preflight, inputs.role, look);
    if (problems.length > 0) {
        throw new RefusedError({
            stage: "pre-flight",
            host: host.address,
            what: problems.join("; "),
            advice: `Use a host that has what is wanted, or change the thresholds in \`preflight\`. ${unchanged(operation.begunBefore)}`,
        });
    }
}

/** The look that was decided on may be minutes old: a machine that boots is waited for, the cluster answers at once. */
async function lookAtClock(
    { hostFacts, inputs, target, cluster }: HostOperation,
    deadline: Deadline,
): Promise<{ readonly host: HostFacts; readonly look?: ClockLook }> {
    if (inputs.preflight.maxClockSkew === false) return { host: hostFacts };
    const asked = cluster.kube.now();
    const { clock } = await target.probe({ dataDir: inputs.dataDir, k0sPath: inputs.k0s.installPath }, deadline);
    return { host: { ...hostFacts, clock }, look: { asked, answered: cluster.kube.now() } };
}
