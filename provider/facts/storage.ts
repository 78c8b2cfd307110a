import { treeOf } from "../adapters/tree";
import { RefusedError } from "../errors";
import type { HostFacts } from "./host";

/** A controller of a kind of cluster that has no members to join or leave; not passed over for another one without a word. */
export class UnsupportedStorageError extends RefusedError {}

/**
 * Fails with an UnsupportedStorageError where the controller's cluster does not keep its objects in k0s' own etcd. `nodeConfig`:
 * the configuration in force.
 */
export function requireOwnEtcd(address: string, status: HostFacts["status"], nodeConfig: unknown): void {
    const kind = otherStorage(status, nodeConfig);
    if (kind === undefined) return;
    throw new UnsupportedStorageError({
        stage: "looking for the cluster",
        host: address,
        what: `${kind}, which is not supported`,
        advice:
            "Controllers join and leave as members of the etcd that k0s runs itself (`spec.storage.type: etcd`, without " +
            "`externalCluster`), and k0s cannot change the storage of a cluster. Nothing was changed.",
        topic: "storage",
    });
}

function otherStorage(status: HostFacts["status"], nodeConfig: unknown): string | undefined {
    if (status.state === "answers" && status.singleNode)
        return "it runs with `--single`, a cluster that nothing can join";
    const { type = "etcd", etcd } = treeOf(treeOf(treeOf(nodeConfig)["spec"])["storage"]);
    if (type !== "etcd")
        return `its cluster keeps its objects in ${typeof type === "string" ? type : "something else"}`;
    const external = treeOf(etcd)["externalCluster"];
    return external === undefined || external === null ? undefined : "its cluster uses an external etcd";
}
