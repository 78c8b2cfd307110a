import type { SimEvent } from "../sim";
import type { RemoveStep } from "./expected";
import type { World } from "./world";

/** A step of a removal that was seen to happen, and when: the number of its event. */
export type Milestones = ReadonlyMap<RemoveStep | "stop", { readonly first: number; readonly last: number }>;

/** What of a removal happened since that event, as seen from the hosts, the API, etcd and k0s. */
export function milestonesSince(world: World, start: number): Milestones {
    const seen = new Map<RemoveStep | "stop", { first: number; last: number }>();
    world.sim.events.slice(start).forEach((event, index) => {
        const step = stepOf(world, event);
        if (step === undefined) return;
        seen.set(step, { first: seen.get(step)?.first ?? index, last: index });
    });
    return seen;
}

function stepOf({ name, target }: World, { kind, what, host, values }: SimEvent): RemoveStep | "stop" | undefined {
    const body = values?.["body"] ?? "";
    switch (kind) {
        case "etcd-write":
            return what.startsWith("MemberRemove") ? "leave" : undefined;
        case "etcd":
            return what.endsWith(" removed") ? "wait-left" : undefined;
        case "object":
            return what.startsWith(`EtcdMember ${name}`) || what.startsWith(`${name} `) ? objectStep(what) : undefined;
        case "api-write":
            return apiStep(name, what, body);
        case "program":
            return host === target.name ? programStep(what, values?.["ACTION"]) : undefined;
        default:
            return undefined;
    }
}

function objectStep(what: string): RemoveStep | undefined {
    if (what.endsWith("deleted")) return "delete-object";
    return what.includes("Joined=False") ? "wait-joined-false" : undefined;
}

function apiStep(name: string, what: string, body: string): RemoveStep | undefined {
    if (/^POST .*\/eviction$/.test(what)) return "drain";
    if (what === `PATCH /api/v1/nodes/${name}` && /"unschedulable":true/.test(body)) return "drain";
    if (what === `DELETE /api/v1/nodes/${name}`) return "delete-node";
    // After the member has gone the same request only tells k0s; `judge` looks at what came first.
    return /^PATCH .*\/etcdmembers\//.test(what) && /"leave":true/.test(body) ? "leave" : undefined;
}

function programStep(name: string, action: string | undefined): RemoveStep | "stop" | undefined {
    if (name === "reset") return "reset";
    if (name === "clean-up") return "folders";
    return name === "service" && action === "stop" ? "stop" : undefined;
}
