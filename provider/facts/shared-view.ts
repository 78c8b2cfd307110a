import type { Deadline } from "../deadline";
import type { ClusterFacts } from "./cluster";
import { readCluster } from "./cluster-view";
import type { ClusterConnection } from "./controller";

/** A refresh reads all nodes of a cluster at once; what it shows them may be this old, in milliseconds. */
const SHARED_FOR = 2000;

const views = new Map<string, { readonly at: number; readonly view: Promise<ClusterFacts> }>();

/**
 * The cluster, shared by reads that come within two seconds of each other. Never for a decision that is acted on: pipelines
 * look for themselves.
 */
export function readShared(connection: ClusterConnection, deadline: Deadline): Promise<ClusterFacts> {
    const { clusterId, address } = connection.helperFacts;
    const key = `${clusterId} ${address}`;
    const known = views.get(key);
    if (known !== undefined && performance.now() - known.at < SHARED_FOR) return known.view;
    const view = readCluster(connection, {}, deadline);
    views.set(key, { at: performance.now(), view });
    view.catch(() => views.delete(key));
    return view;
}
