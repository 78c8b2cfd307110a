import type { Member } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import type { SilentEtcd, Situation } from "./plan-types";
import { type Refusal, refuse } from "./refusal";

/**
 * A host whose etcd may run and cannot be asked which cluster it serves, and whose member nobody proves to be of this one:
 * what is on it may be a second cluster's, which exists nowhere else (safety.md 2). undefined: no doubt.
 */
export function doubtOf(
    { host, cluster, targetEtcd }: Pick<Situation, "cluster" | "targetEtcd"> & { readonly host: HostFacts | undefined },
    member: Member | undefined,
): Refusal | undefined {
    if (host === undefined || !isSilent(targetEtcd)) return undefined;
    if (member !== undefined && isProven(member, host, cluster.helper.etcdClusterId)) return undefined;
    const listed =
        member === undefined ? "the cluster does not list it as a member" : "its member is not proven healthy";
    const evidence = [`its etcd does not say which cluster it serves: ${targetEtcd.hangs}`, listed];
    return {
        ...refuse("its own etcd does not answer, and may be a cluster of its own", evidence, "second-cluster", true),
        advice:
            "What it holds would be lost. Let its etcd answer (`AllowTcpForwarding` in its sshd_config), or stop it there once it " +
            "is certain that nothing of it is needed: `systemctl stop k0scontroller`.",
    };
}

export function isSilent(targetEtcd: Situation["targetEtcd"]): targetEtcd is SilentEtcd {
    return targetEtcd !== undefined && "hangs" in targetEtcd;
}

/** By its own API server, which shows this cluster's UID (safety.md 9); else by what its database says of itself. */
function isProven({ id, health }: Member, { data: { etcdIds } }: HostFacts, etcdClusterId: bigint): boolean {
    return health === "healthy" || (etcdIds?.memberId === id && etcdIds.clusterId === etcdClusterId);
}
