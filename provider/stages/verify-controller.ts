import { connectEtcd } from "../adapters/etcd/client";
import { connectKube } from "../adapters/kube/client";
import { type Deadline, type Look, waitFor } from "../deadline";
import { RefusedError } from "../errors";
import { memberIdToHex } from "../facts/cluster";
import type { HostOperation } from "./operation";
import type { Outcome } from "./stage";

/** The new node's own etcd must serve the helper's cluster: a controller without data and token starts another one. */
export async function verifyEtcdCluster(
    operation: HostOperation,
    memberId: bigint,
    deadline: Deadline,
): Promise<Outcome> {
    const { target, cluster, inputs } = operation;
    const etcd = await connectEtcd(target, inputs.dataDir, deadline);
    try {
        const own = await waitFor({
            stage: "verifying the etcd cluster",
            host: target.address,
            deadline,
            look: async () => ({ done: await etcd.status() }),
        });
        if (own.clusterId !== cluster.helperFacts.etcdClusterId || own.memberId !== memberId) {
            throw new RefusedError({
                stage: "verifying the etcd cluster",
                host: target.address,
                what:
                    `its etcd is member ${memberIdToHex(own.memberId)} of cluster ${memberIdToHex(own.clusterId)}, but ` +
                    `${cluster.helper.address} has member ${memberIdToHex(memberId)} of ${memberIdToHex(cluster.helperFacts.etcdClusterId)} there`,
                topic: "second-cluster",
            });
        }
    } finally {
        etcd.close();
    }
    return `member ${memberIdToHex(memberId)}`;
}

/** Waits until k0s says of this member ID that it joined: until then the object may still show an older member's ID. */
export async function waitForEtcdMemberObject(
    operation: HostOperation,
    memberId: bigint,
    deadline: Deadline,
): Promise<Outcome> {
    return waitFor<Outcome>({
        stage: "waiting for the EtcdMember",
        host: operation.target.address,
        deadline,
        look: async () => {
            const objects = await operation.cluster.kube.etcdMembers();
            const object = objects.find((candidate) => candidate.memberId === memberId);
            if (object === undefined) return { seen: `no EtcdMember with member ID ${memberIdToHex(memberId)}` };
            return object.joined === "True"
                ? { done: object.name }
                : { seen: `EtcdMember ${object.name} says Joined=${object.joined ?? "nothing"}` };
        },
    });
}

/** Waits until the new node's own API server is ready and shows the cluster's `kube-system`. */
export async function waitForApi(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { target, cluster } = operation;
    const found = await waitFor<string>({
        stage: "waiting for the API server",
        host: target.address,
        deadline,
        look: () => clusterShown(operation, deadline),
    });
    if (found !== cluster.helperFacts.clusterId) {
        throw new RefusedError({
            stage: "waiting for the API server",
            host: target.address,
            what: `its API server shows cluster ${found}, not ${cluster.helperFacts.clusterId}`,
            topic: "second-cluster",
        });
    }
}

/** Where it listens is read each time: k0s has just started, maybe with another configuration than before. */
async function clusterShown({ target, inputs }: HostOperation, deadline: Deadline): Promise<Look<string>> {
    const kube = await connectKube(target, inputs.dataDir, deadline);
    try {
        return (await kube.isReady("/readyz")) ? { done: await kube.clusterId() } : { seen: "/readyz is not ok" };
    } finally {
        kube.close();
    }
}
