import type { RepairSituation } from "../../provider/decide/repair";
import { OWNER_ANNOTATION } from "../../provider/decide/names";
import type { ClusterFacts } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import { address, cluster, controllerHost, node, OWNER, TOKEN, workerHost } from "./build";

export const annotated = (name: string, change: object = {}) =>
    node(name, { annotations: { [OWNER_ANNOTATION]: OWNER }, ...change });
const nodes = ["c1", "c2", "c3", "w1"].map((name) => annotated(name));
export const others = nodes.filter(({ name }) => name !== "c3" && name !== "w1");

/** A controller or worker of a healthy cluster, but for what is given. */
export function situation(name: "c3" | "w1", host: HostFacts, change: Partial<ClusterFacts>): RepairSituation {
    return {
        role: name === "w1" ? "worker" : "controller+worker",
        host,
        cluster: cluster({ nodes, ...change }),
        nodeName: name,
        peerAddress: address(name),
        state: { token: TOKEN, machineId: `machine-${name}` },
        owner: OWNER,
        labels: {},
        taints: [],
        installFlags: [],
    };
}

export const c3 = controllerHost("c3");
export const w1 = workerHost("w1");
