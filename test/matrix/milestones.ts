import type { SimEvent } from "../sim";
import type { RemoveStep } from "./expected";
import type { World } from "./world";
import { writeOf } from "./writes";

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

/** Steps that are writes; that an object or a member is gone is seen in the cluster. */
const WRITTEN = ["leave", "drain", "delete-node", "reset", "folders", "stop"] as const;

function stepOf(world: World, event: SimEvent): RemoveStep | "stop" | undefined {
    const { kind, what } = event;
    if (kind === "etcd") return what.endsWith(" removed") ? "wait-left" : undefined;
    if (kind === "object") return isOurObject(world, what) ? objectStep(what) : undefined;
    const write = writeOf(world, event);
    return WRITTEN.find((step) => step === write);
}

function isOurObject({ name }: World, what: string): boolean {
    return what.startsWith(`EtcdMember ${name}`) || what.startsWith(`${name} `);
}

function objectStep(what: string): RemoveStep | undefined {
    if (what.endsWith("deleted")) return "delete-object";
    return what.includes("Joined=False") ? "wait-joined-false" : undefined;
}
