import { RESOURCES } from "../model/store";
import type { ControllerDaemon } from "./controller";
import { controlNodeStatus, joinedCondition, LABELS, newControlNode } from "./objects";

/** The EtcdMember of a controller that starts: a new one without status, or an old one with its leave taken back. */
export function publishEtcdMember({ cluster, host, config, invocationId }: ControllerDaemon): void {
    if (cluster === undefined) return;
    const name = host.hostName.trim().toLowerCase();
    const labels = { [LABELS.lease]: `k0s-ctrl-${config.nodeName}`, [LABELS.shutdownOnLeave]: invocationId };
    const before = cluster.store.get(RESOURCES.etcdMembers, name);
    if (before === undefined) {
        cluster.store.create(RESOURCES.etcdMembers, { metadata: { name, labels }, spec: {} });
        return;
    }
    cluster.store.update(RESOURCES.etcdMembers, name, (object) => {
        object.metadata.labels = labels;
        object.spec = {};
    });
}

export function publishStatus({ cluster, host, config, member }: ControllerDaemon): void {
    if (cluster === undefined || member === undefined || host.losesMemberStatus) return;
    const name = host.hostName.trim().toLowerCase();
    cluster.store.update(RESOURCES.etcdMembers, name, (object) => {
        object.status = {
            conditions: [joinedCondition(true, "Member joined", cluster.now())],
            memberID: member.id.toString(16),
            peerAddress: config.peerAddress,
        };
    });
}

export function publishControlNode({ cluster, host, config }: ControllerDaemon): void {
    if (cluster === undefined) return;
    const name = host.hostName.trim().toLowerCase();
    if (cluster.store.get(RESOURCES.controlNodes, name) === undefined) {
        cluster.store.create(RESOURCES.controlNodes, newControlNode(name, config.enableWorker));
    }
    cluster.store.update(RESOURCES.controlNodes, name, (object) => {
        object.status = controlNodeStatus(name, config.apiAddress, config.version);
    });
}
