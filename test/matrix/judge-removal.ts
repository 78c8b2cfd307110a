import { RESOURCES } from "../sim";
import { describeEvent, writesSince } from "./evidence";
import type { RemoveStep } from "./expected";
import { type Milestones, milestonesSince } from "./milestones";
import type { World } from "./world";

/** What of an ended removal is not what the words ask for, a sentence each. */
export function judgeRemoval(
    world: World,
    steps: readonly RemoveStep[],
    start: number,
    hadNoProgram: boolean,
): string[] {
    const seen = milestonesSince(world, start);
    if (steps.includes("nothing")) return judgeNothing(world, start);
    return [
        ...missing(steps, seen, hadNoProgram),
        ...uncalledFor(steps, seen),
        ...misordered(steps, seen),
        ...leftovers(world),
        ...elsewhere(world, start),
    ];
}

/** Only the lock, and our own mark on the machine, which is nobody's from now on. */
function judgeNothing(world: World, start: number): string[] {
    return writesSince(world, start)
        .filter(({ kind, what, values }) => {
            if (kind === "api-write") return !what.includes("/leases");
            return !(kind === "program" && what === "remove-files" && values?.["FILES"] === MARKER);
        })
        .map((event) => `it did ${describeEvent(event)}`);
}

export const MARKER = "/etc/pulumi-mke/node.json";

function missing(steps: readonly RemoveStep[], seen: Milestones, hadNoProgram: boolean): string[] {
    // A reset needs a k0s program; without one the folders are cleaned, which is the best effort there is.
    const wanted = steps.map((step) => (step === "reset" && !seen.has("reset") && hadNoProgram ? "folders" : step));
    return wanted.filter((step) => !seen.has(step)).map((step) => `${step} did not happen`);
}

/** Where the words name no end for the machine, which one it is stays open (scenarios 0 and 1, in question marks). */
function uncalledFor(steps: readonly RemoveStep[], seen: Milestones): string[] {
    const never: readonly RemoveStep[] = ["leave", "drain", ...(steps.includes("folders") ? (["reset"] as const) : [])];
    return never.filter((step) => !steps.includes(step) && seen.has(step)).map((step) => `${step} happened`);
}

/** Node and machine are taken away in either order; a healthy host is drained before it leaves, or while it is waited for. */
function misordered(steps: readonly RemoveStep[], seen: Milestones): string[] {
    const ordered = steps.filter(
        (step) =>
            step !== "delete-node" && !(step === "wait-left" && steps.includes("drain") && !steps.includes("leave")),
    );
    return ordered.flatMap((step, index) => {
        const next = ordered[index + 1];
        const [before, after] = [seen.get(step), next && seen.get(next)];
        return before !== undefined && after !== undefined && before.first > after.first
            ? [`${step} came after ${next ?? ""}`]
            : [];
    });
}

function leftovers({ sim, target, name }: World): string[] {
    const { store } = sim.cluster;
    return [
        ...sim
            .members()
            .filter(({ peerAddress }) => peerAddress === target.address)
            .map(() => "it is still a member"),
        ...store
            .list(RESOURCES.etcdMembers)
            .filter(({ metadata, status }) => metadata.name === name || status?.["peerAddress"] === target.address)
            .map(({ metadata }) => `EtcdMember ${metadata.name} is still there`),
        ...(target.units.installed === undefined ? [] : ["its service is still installed"]),
        ...["/var/lib/k0s/pki", "/var/lib/k0s/etcd", "/var/lib/k0s/kubelet.conf", "/etc/k0s", MARKER]
            .filter((path) => target.files.exists(path))
            .map((path) => `${path} is still there`),
    ];
}

/** Other hosts are asked, never changed. */
function elsewhere(world: World, start: number): string[] {
    return writesSince(world, start)
        .filter(({ kind, host }) => (kind === "program" || kind === "stream") && host !== world.target.name)
        .map((event) => `it did ${describeEvent(event)}`);
}
