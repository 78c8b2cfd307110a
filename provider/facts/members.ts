import type { EtcdMembers } from "../adapters/etcd";
import { ConnectionError } from "../errors";
import { memberIdToHex } from "./cluster";
import type { ClusterConnection } from "./controller";

/** An etcd member as etcd lists it. */
export type EtcdMemberSeen = EtcdMembers["members"][number];

/**
 * etcd's members, seen through a surviving controller (safety.md 2). Fails with a retryable ConnectionError where that one has
 * left since it was chosen, or serves another etcd by now: a member on its way out still answers for a moment, and its list
 * says of the others what was true without it.
 */
export async function readMembers({
    helperFacts,
    etcd,
}: Pick<ClusterConnection, "helperFacts" | "etcd">): Promise<readonly EtcdMemberSeen[]> {
    const { clusterId, members } = await etcd.members();
    const { address, memberId, etcdClusterId } = helperFacts;
    if (clusterId === etcdClusterId && members.some(({ id }) => id === memberId)) return members;
    throw new ConnectionError({
        stage: "reading etcd's members",
        host: address,
        what: `its member ${memberIdToHex(memberId)} of etcd cluster ${memberIdToHex(etcdClusterId)} is not in the list`,
        advice: "It has left the cluster, or is leaving it. Name another controller in `cluster.controllers`.",
    });
}
