import { type Deadline, waitFor } from "../deadline";
import { RefusedError, TimeoutError } from "../errors";
import { type ControlNodeObject, type EtcdMemberObject, memberIdToHex, type NodeObject } from "../facts/cluster";
import { NODE_LEASES } from "../facts/cluster-view";
import { readMembers } from "../facts/members";
import type { Operation } from "./operation";
import { type Outcome, withWarning } from "./stage";

/**
 * Waits until k0s marks the object `Joined=False`, up to 11 s after etcd dropped the member (observed.md). For a leave that is
 * not ours: it ends without the state only as a failure.
 */
export async function waitUntilMarkedLeft(
    { cluster, inputs }: Operation,
    object: EtcdMemberObject,
    deadline: Deadline,
): Promise<Outcome> {
    await waitFor<true>({
        stage: "waiting for Joined=False",
        host: inputs.host,
        deadline,
        topic: "interrupted-removal",
        look: async () => {
            const now = (await cluster.kube.etcdMembers()).find(({ uid }) => uid === object.uid);
            const left = now === undefined || now.joined === "False";
            return left ? { done: true } : { seen: `Joined=${now.joined ?? "nothing"}` };
        },
    });
}

/**
 * Deletes the EtcdMember of a member that left, once it says so. One that k0s never updates is deleted all the same, because
 * etcd, read before and after the wait, does not list the member (safety.md 10); the outcome says so.
 */
export async function deleteEtcdMember(
    operation: Operation,
    object: EtcdMemberObject,
    deadline: Deadline,
): Promise<Outcome> {
    await proveGone(operation, object);
    const told = `${object.name} deleted`;
    const warning = await marked(operation, object, deadline);
    await operation.held.prove();
    await proveGone(operation, object);
    await operation.cluster.kube.deleteEtcdMember(object.name, object.uid);
    return warning === undefined ? told : withWarning(`${told}; ${warning}`);
}

async function marked(operation: Operation, object: EtcdMemberObject, deadline: Deadline): Promise<string | undefined> {
    try {
        await waitUntilMarkedLeft(operation, object, deadline);
        return undefined;
    } catch (error) {
        if (!(error instanceof TimeoutError)) throw error;
        return "warning: k0s never marked it as left";
    }
}

/** Deleting the object of a member that counts would leave a voter without a handle to remove it by. */
async function proveGone({ cluster, inputs }: Operation, { name, memberId }: EtcdMemberObject): Promise<void> {
    const members = await readMembers(cluster);
    if (memberId === undefined || !members.some(({ id }) => id === memberId)) return;
    throw new RefusedError({
        stage: "deleting the EtcdMember",
        host: inputs.host,
        what: `member ${memberIdToHex(memberId)} of EtcdMember ${name} is still in etcd`,
        topic: "leave-in-progress",
    });
}

export async function deleteNode({ cluster }: Operation, node: NodeObject): Promise<Outcome> {
    await cluster.kube.deleteNode(node.name, node.uid);
    return node.name;
}

/** k0s never deletes it, and a stale one stops later controller updates (k0s-interfaces.md 5). */
export async function deleteControlNode({ cluster }: Operation, object: ControlNodeObject): Promise<Outcome> {
    await cluster.kube.deleteControlNode(object.name, object.uid);
    return object.name;
}

/** Only after the leave is proven: the k0s leader waits for ever for a lease that is missing (k0s-interfaces.md 3.5). */
export async function deleteControllerLease({ cluster, nodeName }: Operation): Promise<Outcome> {
    await cluster.kube.deleteLease(NODE_LEASES, `k0s-ctrl-${nodeName}`);
}
