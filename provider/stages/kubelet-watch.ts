import { hasHeartbeat, isRecent } from "../decide/alive";
import type { NodeObject } from "../facts/cluster";
import { NODE_LEASES } from "../facts/cluster-view";
import type { Operation } from "./operation";

/** Watches during a drain whether the kubelet lives on, where the host itself cannot be asked. */
export class KubeletWatch {
    private ended = false;

    private constructor(private readonly operation: Operation) {}

    /** undefined: its kubelet was not heard when the removal was decided, so that silence tells nothing. */
    static of(operation: Operation, node: NodeObject): KubeletWatch | undefined {
        return hasHeartbeat(node, operation.clusterFacts) ? new KubeletWatch(operation) : undefined;
    }

    get hasEnded(): boolean {
        return this.ended;
    }

    async look(): Promise<boolean> {
        const { cluster, nodeName } = this.operation;
        const lease = await cluster.kube.lease(NODE_LEASES, nodeName);
        this.ended = lease === undefined || !isRecent(Date.parse(lease.renewTime), cluster.kube.now());
        return this.ended;
    }
}
