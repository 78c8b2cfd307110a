import { type Deadline, waitFor } from "../deadline";
import { TimeoutError } from "../errors";
import type { ControlNodeObject, EtcdMemberObject, NodeObject } from "../facts/cluster";
import type { Operation } from "../pipelines/operation";
import type { Outcome } from "../pipelines/stage";

const LEASE_NAMESPACE = "kube-node-lease";

/**
 * Deletes the EtcdMember of a member that left. k0s marks it `Joined=False` up to 11 s after etcd dropped the member
 * (observed.md); an object it never updates is deleted all the same, because etcd has said the member is gone.
 */
export async function deleteEtcdMember(
    { cluster, inputs }: Operation,
    object: EtcdMemberObject,
    deadline: Deadline,
): Promise<Outcome> {
    let warning = "";
    try {
        await waitFor<true>({
            stage: "waiting for Joined=False",
            host: inputs.host,
            deadline,
            look: async () => {
                const now = (await cluster.kube.etcdMembers()).find((candidate) => candidate.uid === object.uid);
                return now === undefined || now.joined === "False"
                    ? { done: true }
                    : { seen: `Joined=${now.joined ?? "nothing"}` };
            },
        });
    } catch (error) {
        if (!(error instanceof TimeoutError)) throw error;
        warning = " although k0s never marked it as left";
    }
    await cluster.kube.deleteEtcdMember(object.name, object.uid);
    return `${object.name} deleted${warning}`;
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
