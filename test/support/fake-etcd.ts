import type { Etcd, EtcdMembers } from "../../provider/adapters/etcd";
import { type Calls, recorded } from "./fake-calls";

/** What etcd knows; a test may change it at any time. */
export interface EtcdState {
    readonly clusterId: bigint;
    /** Who is asked. */
    readonly memberId: bigint;
    leaderId: bigint | undefined;
    members: EtcdMembers["members"];
}

/** One member's etcd, in memory. */
export function fakeEtcd(name: string, calls: Calls, state: EtcdState, answers: Partial<Etcd> = {}): Etcd {
    const own: Etcd = {
        members: async () => ({ clusterId: state.clusterId, members: state.members }),
        status: async () => {
            const { memberId, clusterId, leaderId } = state;
            return { memberId, clusterId, leaderId, learner: false, version: "3.6.14" };
        },
        alarms: async () => [],
        removeMember: async (id) => {
            const before = state.members;
            state.members = before.filter((member) => member.id !== id);
            return state.members.length < before.length ? "removed" : "not-found";
        },
        moveLeader: async (to) => void (state.leaderId = to),
        close: () => undefined,
    };
    return recorded(name, calls, own, answers);
}

/** A member as etcd lists it. */
export function listed(
    {
        id,
        name,
        peerHosts,
        learner,
    }: { readonly id: bigint; readonly name: string; readonly peerHosts: readonly string[]; readonly learner: boolean },
    change: Partial<EtcdMembers["members"][number]> = {},
): EtcdMembers["members"][number] {
    return { id, name, peerUrls: peerHosts.map((host) => `https://${host}:2380`), learner, ...change };
}
