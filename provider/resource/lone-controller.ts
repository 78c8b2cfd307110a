import { openHost } from "../adapters/ssh/pool";
import { machineOf } from "../adapters/host/machine";
import { type Deadline, waitFor } from "../deadline";
import { planLoneStart } from "../decide/lone-controller";
import { isRefusal } from "../decide/refusal";
import { defined } from "../defined";
import { reasonOf, RefusedError } from "../errors";
import { LoneControllerError } from "../facts/no-helper";
import type { NodeInputs } from "../inputs";
import { runStage } from "../stages/stage";
import { COMMAND_SECONDS } from "../stages/timing";
import { logOf, openSession, probeTarget } from "./session";
import type { NodeOutputs } from "./state";

/**
 * Runs the operation. Where its node is the only controller there is and cannot be asked, its k0s is started, if that is proven
 * to be safe, and the operation run again. There is no lock to take: it would be in the cluster that is down.
 */
export async function startingAlone<T>(inputs: NodeInputs, outs: NodeOutputs, run: () => Promise<T>): Promise<T> {
    try {
        return await run();
    } catch (error) {
        if (!(error instanceof LoneControllerError)) throw error;
        await startAlone(inputs, outs, error);
        return run();
    }
}

async function startAlone(inputs: NodeInputs, outs: NodeOutputs, error: LoneControllerError): Promise<void> {
    const log = logOf(inputs);
    const target = openHost(inputs.host, inputs.connection);
    const host = await probeTarget(target, inputs);
    const plan = planLoneStart(host, outs);
    if (isRefusal(plan)) {
        throw new RefusedError({
            ...error.details,
            what: `${error.details.what}; it is not started: ${plan.what}`,
            advice: plan.advice ?? error.details.advice,
            ...defined({ topic: plan.topic }),
        });
    }
    if (plan.kind === "start") {
        await runStage(log, "starting k0s", COMMAND_SECONDS, async (deadline) => {
            const machine = target.onMachine(machineOf(host));
            await machine.service("enable", "controller", deadline);
            await machine.service("start", "controller", deadline);
        });
    }
    await runStage(log, "waiting for k0s", inputs.timeouts.api, (deadline) => untilUsable(inputs, outs, deadline));
}

async function untilUsable(inputs: NodeInputs, outs: NodeOutputs, deadline: Deadline): Promise<undefined> {
    await waitFor<true>({
        stage: "waiting for k0s",
        host: inputs.host,
        deadline,
        look: async () => {
            try {
                (await openSession(inputs, outs, [], "read")).close();
                return { done: true };
            } catch (error) {
                if (error instanceof LoneControllerError) return { seen: reasonOf(error) };
                throw error;
            }
        },
    });
}

/**
 * True for the refusal to start a controller whose program says that its cluster may end, and that what cannot be asked counts as
 * gone (safety.md 24).
 */
export function mayResetAlone({ onLastController, onUnreachable }: NodeInputs, error: unknown): error is RefusedError {
    const isAlone = error instanceof RefusedError && error.topic === "lone-controller";
    return isAlone && onLastController === "reset" && onUnreachable === "remove-from-cluster";
}
