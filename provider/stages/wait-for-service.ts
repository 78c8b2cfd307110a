import { memberAt } from "../address";
import { countVoters, describeHealth } from "../decide/plan-common";
import { majority } from "../decide/quorum";
import { unchanged } from "../decide/refusal";
import { type Deadline, waitFor, type WaitOptions } from "../deadline";
import { RefusedError } from "../errors";
import type { Member } from "../facts/cluster";
import { readCluster } from "../facts/cluster-view";
import type { HostOperation } from "./operation";
import type { Outcome } from "./stage";
import { requireServiceStays } from "./service-stays";

/** Its counter is that of systemd, which a start by us sets back. */
const RESTARTS_TO_GIVE_UP = 3;

/**
 * Waits until k0s itself answers, and for a controller until its member is proven healthy: a Node still says Ready for 40 s
 * after its kubelet has gone (observed.md), so Ready alone proves nothing after a start.
 */
export async function waitForService(
    operation: HostOperation,
    deadline: Deadline,
    patience: Pick<WaitOptions<true>, "seesItThrough"> = {},
): Promise<Outcome> {
    const { target, inputs, kind } = operation;
    const paths = { dataDir: inputs.dataDir, k0sPath: inputs.k0s.installPath };
    await waitFor<true>({
        stage: "waiting for k0s",
        host: target.address,
        deadline,
        ...patience,
        look: async () => {
            const { status } = await target.probe(paths, deadline);
            if (status.state !== "answers") {
                await requireServiceStays(
                    operation,
                    { stage: "waiting for k0s", restarts: RESTARTS_TO_GIVE_UP },
                    deadline,
                );
                return { seen: `k0s does not answer: ${status.reason}` };
            }
            if (kind === "worker") return { done: true };
            const member = await ownMember(operation, deadline);
            return member?.health === "healthy" ? { done: true } : { seen: "its etcd member is not healthy" };
        },
    });
}

/** A restart takes this voter away for some seconds; the others must hold quorum meanwhile (safety.md 8). */
export async function requireQuorumWithout(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const facts = await readCluster(operation.cluster, { lease: operation.held.lease }, deadline);
    const { voters, healthy } = countVoters(facts);
    const own = memberAt(facts.members, operation.peerAddress);
    const others = own?.health === "healthy" ? healthy - 1 : healthy;
    // Two voters cannot spare either; there the restart itself is the repair that was asked for.
    if (voters <= 2 || others >= majority(voters)) return;
    throw new RefusedError({
        stage: "restarting k0s",
        host: operation.target.address,
        what: "etcd would lose its quorum while this controller restarts",
        output: facts.members.map(describeHealth).join("\n"),
        advice: `Repair the other controllers first. ${unchanged(operation.begunBefore)}`,
        topic: "quorum",
    });
}

async function ownMember(operation: HostOperation, deadline: Deadline): Promise<Member | undefined> {
    return memberAt((await readCluster(operation.cluster, {}, deadline)).members, operation.peerAddress);
}
