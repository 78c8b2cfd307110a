import { RESOURCES } from "../sim";
import { isReady } from "../sim/k0s/kubelet";
import type { Effect } from "./deviations";
import { writesSince } from "./evidence";
import type { AddWay } from "./expected";
import { judgeWrites } from "./judge-writes";
import type { World } from "./world";
import { MARKER, type Write, writeOf } from "./writes";

/** As the docs name it. */
const OWNER_ANNOTATION = "pulumi-mke/owner";

/** What each way consists of. */
const WRITES: Readonly<Record<AddWay, readonly Write[]>> = {
    join: ["join"],
    register: ["mke-config"],
    "wait-ready": [],
    restart: ["restart"],
};

/** What of an ended addition is not what the words and the listed deviations ask for, a sentence each. */
export function judgeAddition(
    world: World,
    { how, cleansObjectFirst }: { readonly how: AddWay; readonly cleansObjectFirst: boolean },
    deviations: readonly Effect[],
    start: number,
): string[] {
    const called: readonly Write[] = [...(cleansObjectFirst ? (["delete-object"] as const) : []), ...WRITES[how]];
    return [
        ...judgeWrites(world, called, deviations, start),
        ...judgeOrder(world, called, start),
        ...judgeNode(world),
        ...(world.inMke ? [] : ["MkeConfig does not list it"]),
    ];
}

function judgeNode({ sim, target, name, kind }: World): string[] {
    const node = sim.cluster.store.get(RESOURCES.nodes, name);
    const members = sim.members().filter(({ peerAddress }) => peerAddress === target.address);
    const isVoter = members.length === 1 && members[0]?.learner === false;
    return [
        ...(node !== undefined && isReady(node.status) ? [] : ["its Node is not Ready"]),
        ...(node?.spec?.["unschedulable"] === true ? ["its Node is cordoned"] : []),
        ...(node?.metadata.annotations?.[OWNER_ANNOTATION] === undefined ? ["its Node carries no owner"] : []),
        ...(target.files.isFile(MARKER) ? [] : ["its host carries no mark"]),
        ...(kind === "worker" || isVoter ? [] : ["it is not one voting member"]),
    ];
}

/** All that the words call for, in their order; a restart once. */
function judgeOrder(world: World, called: readonly Write[], start: number): string[] {
    const writes = writesSince(world, start).map((event) => writeOf(world, event));
    const restarts = writes.filter((write) => write === "restart").length;
    return [
        ...called.filter((write) => !writes.includes(write)).map((write) => `${write} did not happen`),
        ...(restarts > 1 ? [`the service was restarted ${restarts} times`] : []),
        ...called.flatMap((write, index) => {
            const next = called[index + 1];
            return next !== undefined && writes.indexOf(write) > writes.indexOf(next)
                ? [`${write} came after ${next}`]
                : [];
        }),
    ];
}
