import { OWNER_ANNOTATION } from "../../provider/decide/names";
import { RESOURCES } from "../sim";
import { isReady } from "../sim/k0s/kubelet";
import { describeEvent, writesSince } from "./evidence";
import type { AddWay } from "./expected";
import { MARKER } from "./judge-removal";
import type { World } from "./world";

/** What of an ended addition is not what the words ask for, a sentence each. */
export function judgeAddition(world: World, how: AddWay, cleansObjectFirst: boolean, start: number): string[] {
    const problems = how === "join" ? judgeJoin(world, cleansObjectFirst, start) : judgeOthers(world, how, start);
    return [...problems, ...judgeNode(world)];
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

function judgeJoin(world: World, cleansObjectFirst: boolean, start: number): string[] {
    const events = world.sim.events.slice(start);
    const joined = events.findIndex(({ kind, what }) => kind === "program" && what === "install-service");
    const deleted = events.findIndex(
        ({ kind, what }) => kind === "api-write" && /^DELETE .*\/etcdmembers\//.test(what),
    );
    return [
        ...(joined < 0 ? ["k0s was not installed"] : []),
        ...(cleansObjectFirst && (deleted < 0 || deleted > joined)
            ? ["the stale EtcdMember was not deleted first"]
            : []),
        ...(!cleansObjectFirst && deleted >= 0 ? ["an EtcdMember was deleted"] : []),
    ];
}

/** Nothing but the lock, the marks, and for a restart the service. */
function judgeOthers(world: World, how: AddWay, start: number): string[] {
    const writes = writesSince(world, start);
    const restarts = writes.filter(({ what, values }) => what === "service" && values?.["ACTION"] === "restart").length;
    const others = writes.filter(({ kind, what, values }) => {
        if (kind === "program" && what === "service") return values?.["ACTION"] !== "restart";
        if (kind === "program" && what === "write-file") return values?.["FILE"] !== MARKER;
        return !(kind === "api-write" && (what.includes("/leases") || what.startsWith("PATCH /api/v1/nodes/")));
    });
    return [
        ...(restarts === (how === "restart" ? 1 : 0) ? [] : [`the service was restarted ${restarts} times`]),
        ...others.map((event) => `it did ${describeEvent(event)}`),
    ];
}
