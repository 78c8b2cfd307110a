import { preflightProblems } from "../decide/preflight";
import { RefusedError } from "../errors";
import type { HostOperation } from "./operation";
import type { Outcome } from "./stage";

/** Host-level checks of a host that is about to receive a fresh k0s (spec/002, "Pre-flight checks"). Changes nothing. */
export function preflight({ hostFacts, inputs }: HostOperation): Outcome {
    const problems = preflightProblems(hostFacts, inputs.preflight, inputs.role);
    if (problems.length > 0) {
        throw new RefusedError({
            stage: "pre-flight",
            host: hostFacts.address,
            what: problems.join("; "),
            advice: "Use a bigger host, or change the thresholds in `preflight`.",
        });
    }
}
