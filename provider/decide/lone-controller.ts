import { memberIdToHex } from "../facts/cluster";
import type { HostFacts } from "../facts/host";
import { isOtherMachine, markerOf, whichCluster } from "./identity";
import { refuseBesideK0sctl } from "./others-at-work";
import { type Refusal, refuse } from "./refusal";

/** What state knows of the controller and its cluster. */
export interface KnownController {
    readonly token: string;
    readonly machineId?: string | undefined;
    readonly memberId?: string | undefined;
    readonly clusterId?: string | undefined;
    readonly caFingerprint?: string | undefined;
}

/** `wait`: it is started, and does not answer yet. */
export type LoneStart = { readonly kind: "start" | "wait" };

/**
 * Whether the k0s of a controller may be started that nobody else can speak for (safety.md 13). One without its own data would
 * start a new cluster with the same CA, so all must be proven by its machine: it is the one in state and carries our mark, and
 * its database is that of the member in state.
 */
export function planLoneStart(host: HostFacts, known: KnownController): LoneStart | Refusal {
    const busy = refuseBesideK0sctl(host);
    if (busy !== undefined) return busy;
    const why = whyNotStarted(host, known);
    if (why !== undefined) return refuse(why, [], "lone-controller");
    if (host.units.controller?.active !== "active") return { kind: "start" };
    if (host.status.state !== "answers") return { kind: "wait" };
    // Most likely others are its majority: nothing of it may be given up.
    return refuse("its k0s runs, and its cluster cannot be used", [], "quorum");
}

function whyNotStarted(host: HostFacts, known: KnownController): string | undefined {
    const { caFingerprint = "", clusterId, token, memberId } = known;
    const marker = markerOf(host);
    if (isOtherMachine(host, known.machineId === undefined ? {} : { machineId: known.machineId })) {
        return `it is another machine (${host.machineId}) than the one in state`;
    }
    if (marker?.token !== token || marker.clusterId !== clusterId) return "it does not carry this resource's mark";
    if (marker.operation?.endsCluster === true) return "its removal has begun, and with it the end of its cluster";
    if (host.units.controller === undefined) return "k0s is not installed on it as a controller's service";
    if (whichCluster(host, { caFingerprint }) !== "this") return "it does not hold this cluster's CA";
    const { etcdDatabase, etcdIds } = host.data;
    if (!etcdDatabase) return "its etcd database is gone: its k0s would start a new cluster with the same CA";
    if (etcdIds === undefined) return "its etcd database does not say which member it is";
    const found = memberIdToHex(etcdIds.memberId);
    return found === memberId ? undefined : `its etcd database is that of member ${found}, not ${memberId ?? "known"}`;
}
