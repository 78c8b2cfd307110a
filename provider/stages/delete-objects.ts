import { type Deadline, waitFor } from "../deadline";
import { TimeoutError } from "../errors";
import type { ControlNodeObject, EtcdMemberObject, NodeObject } from "../facts/cluster";
import type { Operation } from "../pipelines/operation";
import type { Outcome } from "../pipelines/stage";

const LEASE_NAMESPACE = "kube-node-lease";

/**
 * Deletes the EtcdMember of a member that left. k0s marks it `Joined=False` up to 11 s after etcd dropped the member
 * (observed.md). After our own leave an object it never updates is deleted all the same, because etcd has said the member is
 * gone; where the matrix says to wait for it (`mustSayLeft`), the wait failing is the removal failing.
 */
export async function deleteEtcdMember(
    operation: Operation,
    object: EtcdMemberObject,
    mustSayLeft: boolean,
    deadline: Deadline,
): Promise<Outcome> {
    const warning = (await saysLeft(operation, object, mustSayLeft, deadline))
        ? ""
        : " although k0s never marked it as left";
    await operation.cluster.kube.deleteEtcdMember(object.name, object.uid);
    return `${object.name} deleted${warning}`;
}

async function saysLeft(
    { cluster, inputs }: Operation,
    object: EtcdMemberObject,
    mustSayLeft: boolean,
    deadline: Deadline,
): Promise<boolean> {
    try {
        return await waitFor<true>({
            stage: "waiting for Joined=False",
            host: inputs.host,
            deadline,
            advice: "Runbook: docs/runbook.md#interrupted-removal",
            look: async () => {
                const now = (await cluster.kube.etcdMembers()).find(({ uid }) => uid === object.uid);
                const left = now === undefined || now.joined === "False";
                return left ? { done: true } : { seen: `Joined=${now.joined ?? "nothing"}` };
            },
        });
    } catch (error) {
        if (mustSayLeft || !(error instanceof TimeoutError)) throw error;
        return false;
    }
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
    await cluster.kube.deleteLease(LEASE_NAMESPACE, `k0s-ctrl-${nodeName}`);
}
