import { majority } from "./model/etcd";
import type { World } from "./model/world";
import { RESOURCES } from "./model/store";

/** What must never be true of a simulated world, in sentences. */
export function brokenInvariants(world: World): string[] {
    const { events, clusters } = world;
    const problems = events.of("problem").map(({ host, what }) => (host === undefined ? what : `${host}: ${what}`));
    const lost = events.of("leader").filter(({ what }) => what === NO_QUORUM);
    return [
        ...problems,
        ...lost.map(({ at }) => `etcd had no quorum at ${at.toFixed(1)} s`),
        ...(clusters.length > 1 ? [`there are ${clusters.length} clusters`] : []),
        ...ghosts(world),
    ];
}

export const NO_QUORUM = "etcd has no quorum";

/** Members without a running controller that knows them, and objects without a member. */
function ghosts({ clusters }: World): string[] {
    return clusters.flatMap((cluster) => {
        const { members, voters } = cluster.etcd;
        const dead = members.filter(({ id }) => cluster.daemonOf(id) === undefined);
        const alive = voters.filter(({ id }) => cluster.etcd.isAlive(id)).length;
        const ids = new Set(members.map(({ id }) => id.toString(16)));
        const stale = cluster.store
            .list(RESOURCES.etcdMembers)
            .filter(({ status }) => !ids.has(String(status?.["memberID"])));
        return [
            ...dead.map(({ id, name }) => `etcd member ${name} (${id.toString(16)}) is a ghost`),
            ...stale.map(({ metadata }) => `EtcdMember ${metadata.name} is of no member`),
            ...(alive < majority(voters.length) ? [`${alive} of ${voters.length} voters live: no quorum`] : []),
        ];
    });
}
