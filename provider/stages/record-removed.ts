import { addressesOf } from "../address";
import { REMOVED_ANNOTATION, withJoined, withRemoved } from "../facts/removed-controllers";
import { memberIdToHex } from "../facts/cluster";
import type { HostOperation, Operation } from "./operation";
import type { Outcome } from "./stage";

/**
 * Notes in the cluster that this controller has gone: the last one may end the cluster although a program still lists this
 * one, whose machine is often gone right after it (safety.md 24).
 */
export async function recordRemoved(
    operation: Operation,
    memberId: bigint,
    host: HostOperation | undefined,
): Promise<Outcome> {
    const { cluster, inputs, peerAddress } = operation;
    const own = host === undefined ? [] : addressesOf(host.hostFacts);
    const removed = {
        addresses: [...new Set([inputs.host, peerAddress, ...own])],
        memberId: memberIdToHex(memberId),
        etcdClusterId: memberIdToHex(cluster.helperFacts.etcdClusterId),
    };
    const annotations = await cluster.kube.clusterAnnotations();
    await cluster.kube.annotateCluster({ [REMOVED_ANNOTATION]: withRemoved(annotations, removed) });
}

/** A controller that joins is none that has gone, whatever was noted of an earlier one at its addresses. */
export async function forgetRemoved({ cluster, inputs, peerAddress, hostFacts }: HostOperation): Promise<void> {
    const addresses = [inputs.host, peerAddress, ...addressesOf(hostFacts)];
    const changed = withJoined(await cluster.kube.clusterAnnotations(), addresses);
    if (changed !== undefined) await cluster.kube.annotateCluster({ [REMOVED_ANNOTATION]: changed });
}
