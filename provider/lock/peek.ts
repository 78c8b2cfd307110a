import type { Kube } from "../adapters/kube";
import type { OperationRecord } from "../facts/host";
import { isFree, leaseNameOf, LOCK_NAMESPACE, recordIn, type OperationLock } from "./leases";

/**
 * What the last holder of that Lease noted and, if the Lease is still there, did not bring to its end. For a first look
 * without the lock; what is carried out goes by what the lock itself found.
 */
export async function recordLeft(kube: Kube, kind: OperationLock): Promise<OperationRecord | undefined> {
    const lease = await kube.lease(LOCK_NAMESPACE, leaseNameOf(kind));
    return lease === undefined ? undefined : recordIn(lease);
}

/** Whether somebody holds it, or was killed with it: its Lease has a holder. */
export async function isHeld(kube: Kube, kind: OperationLock): Promise<boolean> {
    const lease = await kube.lease(LOCK_NAMESPACE, leaseNameOf(kind));
    return lease !== undefined && !isFree(lease);
}
