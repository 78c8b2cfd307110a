import { RESOURCES } from "../sim";
import type { Effect } from "./deviations";
import type { RemoveStep } from "./expected";
import { judgeWrites } from "./judge-writes";
import { type Milestones, milestonesSince } from "./milestones";
import type { World } from "./world";
import { MARKER, type Write } from "./writes";

/** Writes that a step consists of; steps that wait have none. */
const WRITES: Readonly<Partial<Record<RemoveStep, readonly Write[]>>> = {
    drain: ["drain"],
    leave: ["leave"],
    "delete-object": ["delete-object"],
    "delete-node": ["delete-node"],
    reset: ["reset"],
    folders: ["folders"],
};

/** What of an ended removal is not what the words and the listed deviations ask for, a sentence each. */
export function judgeRemoval(
    world: World,
    words: readonly RemoveStep[],
    deviations: readonly Effect[],
    start: number,
): string[] {
    const steps = words.map((step) => insteadOf(step, deviations));
    const seen = milestonesSince(world, start);
    const called = steps.flatMap((step) => WRITES[step] ?? []);
    if (steps.includes("nothing")) {
        const listed: Effect = { adds: ["mke-config"], always: true };
        return [...judgeWrites(world, [], [...deviations, listed], start), ...leftovers(world, [])];
    }
    const added = deviations.flatMap((effect) => ("adds" in effect && effect.always ? effect.adds : []));
    return [
        ...judgeWrites(world, called, deviations, start),
        ...steps.filter((step) => !seen.has(step)).map((step) => `${step} did not happen`),
        ...misordered(steps, seen, deviations),
        ...leftovers(world, [...called, ...added]),
    ];
}

function insteadOf(step: RemoveStep, deviations: readonly Effect[]): RemoveStep {
    const effect = deviations.find((one) => "instead" in one && one.instead === step);
    return effect !== undefined && "does" in effect && effect.does === "folders" ? "folders" : step;
}

/** "Reset + node removal" names no order between the two. */
function misordered(steps: readonly RemoveStep[], seen: Milestones, deviations: readonly Effect[]): string[] {
    const ordered = inOrder(
        steps.filter((step) => step !== "delete-node"),
        deviations,
    );
    return ordered.flatMap((step, index) => {
        const next = ordered[index + 1];
        const [before, after] = [seen.get(step), next && seen.get(next)];
        return before !== undefined && after !== undefined && before.first > after.first
            ? [`${step} came after ${next ?? ""}`]
            : [];
    });
}

function inOrder(steps: readonly RemoveStep[], deviations: readonly Effect[]): readonly RemoveStep[] {
    const effect = deviations.find((one) => "first" in one);
    if (effect === undefined || !("first" in effect)) return steps;
    return steps.flatMap((step) => (step === effect.first ? [] : step === effect.then ? [effect.first, step] : [step]));
}

/** What is still there of what was to go. */
function leftovers({ sim, target, name, inMke }: World, gone: readonly Write[]): string[] {
    const { store, etcd } = sim.cluster;
    const isMember = etcd.members.some(({ peerAddress }) => peerAddress === target.address);
    const objects = store
        .list(RESOURCES.etcdMembers)
        .filter(({ metadata, status }) => metadata.name === name || status?.["peerAddress"] === target.address);
    const files = [
        ...(gone.includes("folders") ? ["/var/lib/k0s/pki", "/var/lib/k0s/etcd", "/var/lib/k0s/kubelet.conf"] : []),
        ...(gone.includes("folders") ? ["/etc/k0s"] : []),
        MARKER,
    ];
    return [
        ...(gone.includes("leave") && isMember ? ["it is still a member"] : []),
        ...(gone.includes("delete-object") ? objects : []).map(
            ({ metadata }) => `EtcdMember ${metadata.name} is there`,
        ),
        ...(gone.includes("stop") && target.units.installed !== undefined ? ["its service is still installed"] : []),
        ...files.filter((path) => target.files.exists(path)).map((path) => `${path} is still there`),
        ...(inMke ? ["MkeConfig still lists it"] : []),
    ];
}
