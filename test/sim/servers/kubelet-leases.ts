import type { SimCluster } from "../k0s/cluster";
import { NODE_LEASES } from "../k0s/kubelet";
import { type KubeObject, RESOURCES } from "../model/store";
import type { ApiResponse, ApiTarget } from "./api-request";

/** Fills in when kubelets last renewed their Leases, which they do every 10 s: `timeOf` makes a time of a simulated second. */
export function withRenewals(
    { kubelets }: SimCluster,
    { resource, namespace }: ApiTarget,
    response: ApiResponse,
    timeOf: (second: number) => number,
): ApiResponse {
    if (resource !== RESOURCES.leases || namespace !== NODE_LEASES) return response;
    const renewed = (lease: KubeObject): KubeObject => {
        const kubelet = kubelets.get(lease.metadata.name);
        if (kubelet === undefined) return lease;
        const renewTime = new Date(timeOf(kubelet.renewedAt)).toISOString().replace(/Z$/, "000Z");
        return { ...lease, spec: { ...lease.spec, renewTime } };
    };
    const { status, content } = response;
    if (typeof content === "string") return response;
    if (!("items" in content)) return { status, content: renewed(content as KubeObject) };
    return { status, content: { ...content, items: (content.items as KubeObject[]).map(renewed) } };
}
