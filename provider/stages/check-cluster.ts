import { clusterProblems, type Exempt, type Problem } from "../decide/cluster-health";
import { unchanged } from "../decide/refusal";
import { type Deadline, waitFor } from "../deadline";
import { RefusedError } from "../errors";
import { type ClusterFacts, memberIdToHex } from "../facts/cluster";
import { readCluster } from "../facts/cluster-view";
import { LOCK_NAMESPACE, LOCK_SELECTOR, movedHere, TransitionWatch } from "../lock";
import { counted } from "../text";
import type { Operation } from "./operation";
import type { Outcome } from "./stage";

/**
 * Nothing starts on a cluster that is not healthy (spec/002, "Cluster state check", "Etcd cluster state check"). What passes
 * by itself, such as the wobble of a fresh Node, is waited out; the target never counts, nor do Nodes that other operations
 * add or remove at the same time.
 */
export async function requireStableCluster(operation: Operation, exempt: Exempt, deadline: Deadline): Promise<Outcome> {
    const watch = watchOthers(operation);
    await waitFor<true>({
        stage: "checking the cluster",
        host: operation.cluster.helper.address,
        deadline,
        interval: 1000,
        look: async () => {
            const problems = await findProblems(operation, exempt, watch, deadline);
            const lasting = problems.filter((problem) => !problem.transient);
            if (lasting.length > 0) throw refusal(operation, lasting);
            return problems.length === 0 ? { done: true } : { seen: sentences(problems) };
        },
    });
}

/**
 * After a membership change: every other member of the baseline is still there and healthy, nothing else came or went, and
 * the cluster is as sound as before (spec/002, "Etcd state verification (post-check)").
 */
export async function verifyMembership(
    operation: Operation,
    change: MembershipChange,
    deadline: Deadline,
): Promise<Outcome> {
    const expected = expectedIds(operation.clusterFacts, change);
    const exempt = { nodeNames: [operation.nodeName], memberIds: [] };
    // What was broken before was accepted by the decision, and is not this operation's to mend.
    const watch = watchOthers(operation);
    const known = new Set(clusterProblems(operation.clusterFacts, exempt).map(({ what }) => what));
    await waitFor<true>({
        stage: "verifying etcd",
        host: operation.cluster.helper.address,
        deadline,
        interval: 1000,
        look: async () => {
            const { facts, moving } = await look(operation, exempt, watch, deadline);
            const found = facts.members.map((member) => member.id);
            const differing = describeDifference(expected, found);
            if (differing !== undefined) return { seen: differing };
            const problems = clusterProblems(facts, moving).filter(({ what }) => !known.has(what));
            return problems.length === 0 ? { done: true } : { seen: sentences(problems) };
        },
    });
    return counted(expected.length, known.size === 0 ? "healthy member" : "member");
}

export interface MembershipChange {
    readonly added?: bigint;
    readonly removed?: bigint;
}

function expectedIds({ members }: ClusterFacts, { added, removed }: MembershipChange): bigint[] {
    const ids = new Set(members.map((member) => member.id));
    if (removed !== undefined) ids.delete(removed);
    if (added !== undefined) ids.add(added);
    return [...ids];
}

function describeDifference(expected: readonly bigint[], found: readonly bigint[]): string | undefined {
    const missing = expected.filter((id) => !found.includes(id)).map((id) => `${memberIdToHex(id)} is missing`);
    const extra = found.filter((id) => !expected.includes(id)).map((id) => `${memberIdToHex(id)} was not there before`);
    const all = [...missing, ...extra];
    return all.length === 0 ? undefined : `member ${all.join(", member ")}`;
}

function watchOthers({ held }: Operation): TransitionWatch {
    return new TransitionWatch(held.lease.holder);
}

async function findProblems(
    operation: Operation,
    exempt: Exempt,
    watch: TransitionWatch,
    deadline: Deadline,
): Promise<readonly Problem[]> {
    const { facts, moving } = await look(operation, exempt, watch, deadline);
    return clusterProblems(facts, moving);
}

/** The cluster, and what is not to be judged in it: what this operation moves, and what others do. */
async function look(
    { cluster, held }: Operation,
    exempt: Exempt,
    watch: TransitionWatch,
    deadline: Deadline,
): Promise<{ readonly facts: ClusterFacts; readonly moving: Exempt }> {
    const [facts, leases] = await Promise.all([
        readCluster(cluster, { lease: held.lease }, deadline),
        cluster.kube.leases(LOCK_NAMESPACE, LOCK_SELECTOR),
    ]);
    const { nodeNames, undecided, controlPlane } = watch.look(leases, facts.nodes);
    const moving = {
        ...exempt,
        nodeNames: [...exempt.nodeNames, ...nodeNames, ...movedHere(cluster.helperFacts.clusterId)],
        undecided,
        controlPlaneMoves: controlPlane,
    };
    return { facts, moving };
}

function refusal({ cluster, begunBefore }: Operation, problems: readonly Problem[]): RefusedError {
    const topic = problems.find((problem) => problem.topic !== undefined)?.topic;
    const advice = `${unchanged(begunBefore)} Repair this first: members are neither added nor removed while another one is broken.`;
    return new RefusedError({
        stage: "checking the cluster",
        host: cluster.helper.address,
        what: sentences(problems),
        advice: [advice, ...problems.flatMap((problem) => problem.advice ?? [])].join(" "),
        topic,
    });
}

function sentences(problems: readonly Problem[]): string {
    return problems.map((problem) => problem.what).join("; ");
}
