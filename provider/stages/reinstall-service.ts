import { memberAt } from "../address";
import { describeHealth } from "../decide/plan-common";
import { mayRestart } from "../decide/restart";
import { type Deadline, waitFor } from "../deadline";
import { RefusedError } from "../errors";
import type { Member } from "../facts/cluster";
import { readCluster } from "../facts/cluster-view";
import { type HostOperation, runsWorkloads } from "./operation";
import { nothingToDo, type Outcome } from "./stage";
import { proveUnchanged } from "./baseline";
import type { PlannedContent, ReinstallPlan } from "./plan-reinstall";

const KUBELET_PORT = 10250;
/** Where there was no file before. */
const CONFIG_MODE = 0o600;

export function ownMember({ clusterFacts, peerAddress }: HostOperation): Member | undefined {
    return memberAt(clusterFacts.members, peerAddress);
}

/** k0s.yaml with the changed settings; k0s reads it when it starts. */
export async function writeConfigAgain(
    operation: HostOperation,
    { config }: ReinstallPlan,
    deadline: Deadline,
): Promise<Outcome> {
    if (config === undefined) return nothingToDo("nothing to write");
    await operation.held.prove();
    await rewrite(operation, config, deadline);
    return config.path;
}

/**
 * The service's own file with the changed flags: all else in it stays, its token file and its environment too, and so do
 * drop-ins and whether it is enabled. `k0s install --force` would delete the file first: a host that is cut off in between
 * would be one without a service.
 */
export async function rewriteService(
    operation: HostOperation,
    { unit }: ReinstallPlan,
    deadline: Deadline,
): Promise<Outcome> {
    const { target, kind, held } = operation;
    await held.prove();
    if (unit !== undefined) await rewrite(operation, unit, deadline);
    // Also after a run that was killed in between: systemd would start what it read before.
    await target.service("reread", kind, deadline);
    return unit === undefined ? nothingToDo("as it is") : unit.path;
}

/**
 * What was there before, and k0s started with it: a node that does not come up must not be left so, least of all the only
 * controller. For a controller without a look at the lock, which was stretched for longer than this takes: there may be no API to
 * ask.
 */
export async function putBack(operation: HostOperation, { back }: ReinstallPlan, deadline: Deadline): Promise<Outcome> {
    const { target, kind, held } = operation;
    if (kind === "worker") await held.prove();
    for (const { path, content } of back) {
        if (content === undefined) await target.removeFiles([path], deadline);
        else await rewrite(operation, { path, content }, deadline);
    }
    await target.service("reread", kind, deadline);
    await target.service("restart", kind, deadline);
}

async function rewrite(
    { target }: HostOperation,
    { path, content }: PlannedContent,
    deadline: Deadline,
): Promise<void> {
    const [before] = await target.material.describe([path], deadline);
    await target.writeFile(path, content, before?.kind === "file" ? before.mode : CONFIG_MODE, deadline);
}

/** Immediately before the restart: the lock is ours, the members are those of the decision, and every other one is healthy. */
export async function requireRestartable(operation: HostOperation): Promise<Outcome> {
    const stage = "restarting k0s";
    if (operation.kind === "worker") return;
    const { members } = await proveUnchanged(operation, stage);
    const own = members.find(({ id }) => id === ownMember(operation)?.id);
    const restart = mayRestart(members, own);
    // Without its database k0s would start a new cluster with the same CA (safety.md 13).
    const why = operation.hostFacts.data.etcdDatabase ? undefined : "its etcd database is not there";
    if (restart.ok && why === undefined) {
        if (restart.withoutApi)
            operation.log.line("nobody has a Kubernetes API until this controller is back", "quiet");
        return;
    }
    throw new RefusedError({
        stage,
        host: operation.target.address,
        what: why ?? (restart.ok ? "" : restart.why),
        output: members.map(describeHealth).join("\n"),
        advice: "k0s was not restarted. Repair the other controllers first, then run `pulumi up` again.",
        topic: "quorum",
    });
}

/** False where one more restart could take a k0s away that etcd needs now: this one answers, and another member does not. */
export async function mayGoBack(operation: HostOperation, deadline: Deadline): Promise<boolean> {
    const { target, kind, inputs, cluster, clusterFacts } = operation;
    if (kind === "worker") return true;
    // Of one or two, the others have no quorum without it, whatever it answers.
    if (clusterFacts.members.length <= 2) return true;
    const { status } = await target.probe({ dataDir: inputs.dataDir, k0sPath: inputs.k0s.installPath }, deadline);
    if (status.state !== "answers") return true;
    const { members } = await readCluster(cluster, {}, deadline);
    const own = members.find(({ id }) => id === ownMember(operation)?.id);
    return mayRestart(members, own).ok;
}

/**
 * A Node says Ready for 40 s after its kubelet has gone (observed.md), so Ready alone proves nothing after a restart: a kubelet
 * that refuses its arguments never listens.
 */
export async function waitForKubelet(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    if (!runsWorkloads(operation)) return nothingToDo("a plain controller has none");
    const { target, cluster, nodeName, kind, peerAddress } = operation;
    await waitFor<true>({
        stage: "waiting for kubelet",
        host: target.address,
        deadline,
        look: async () => {
            const port = (await cluster.kube.node(nodeName))?.kubeletPort ?? KUBELET_PORT;
            // kubelet's `--address` may be one alone.
            const answers = ["127.0.0.1", peerAddress].map((address) => target.reach(address, port, deadline));
            const isOpen = (await Promise.all(answers)).includes("open");
            return isOpen ? { done: true } : { seen: `nothing listens on port ${port}` };
        },
        advice: `Its reason is in the journal of k0s${kind}. Correct the settings, then run \`pulumi up\` again.`,
    });
}
