import type { Kube } from "../adapters/kube";
import type { OperationRecord } from "../facts/host";
import { isFree, leaseNameOf, LOCK_NAMESPACE, type OperationLock } from "./leases";
import { recordAbout, type RecordSubject } from "./records";

/**
 * What an earlier holder of that Lease noted and, if the Lease is still there, did not bring to its end: about that machine,
 * or the latest. For a first look without the lock; what is carried out goes by what the lock itself found.
 */
export async function recordLeft(
    kube: Kube,
    kind: OperationLock,
    subject: RecordSubject,
): Promise<OperationRecord | undefined> {
    const lease = await kube.lease(LOCK_NAMESPACE, leaseNameOf(kind));
    return lease === undefined ? undefined : recordAbout(lease, subject);
}

/** Whether somebody holds it, or was killed with it: its Lease has a holder. */
export async function isHeld(kube: Kube, kind: OperationLock): Promise<boolean> {
    const lease = await kube.lease(LOCK_NAMESPACE, leaseNameOf(kind));
    return lease !== undefined && !isFree(lease);
}
