import { type ControllerRemoval, removeController } from "../../provider/pipelines/remove-controller";
import { controllerHost, controlNode, etcdMember, member, memberId, node } from "../decide/build";
import { ownServers, type Scene, type SceneOptions, scene } from "../support/fake-operation";
import { HAPPY_CONTROLLER } from "./scenes";

/** c3 of three; k0s does what its object says. */
export function leaving(options: SceneOptions = {}): Scene {
    const world: Scene = scene({
        hostFacts: controllerHost("c3"),
        ...options,
        kube: {
            patchEtcdMember: async (_n, _u, { leave: asked }) => (asked === true ? leave(world) : undefined),
            ...options.kube,
        },
    });
    ownServers(world);
    return world;
}

/** As k0s does it: the member goes, then its object says so. */
export function leave({ etcd, kube }: Scene): void {
    etcd.members = etcd.members.filter(({ id }) => id !== memberId("c3"));
    kube.etcdMembers = kube.etcdMembers.map((one) => (one.name === "c3" ? { ...one, joined: "False" } : one));
}

/** Removes c3 as the matrix has it for a healthy controller, with what is changed. */
export function removeC3(world: Scene, change: Partial<ControllerRemoval> = {}): Promise<void> {
    return removeController(world.operation, {
        steps: HAPPY_CONTROLLER,
        howToLeave: "spec-leave",
        member: member("c3"),
        object: etcdMember("c3"),
        node: node("c3"),
        controlNode: controlNode("c3"),
        host: world.operation,
        ...change,
    });
}

/** Calls that delete c3's objects, and those that reset its machine. */
export const OBJECT = "kube deleteEtcdMember c3 uid-etcdmember-c3";
export const NODE = "kube deleteNode c3 uid-node-c3";
export const LEASE = "kube deleteLease kube-node-lease k0s-ctrl-c3";
export const DELETED = [OBJECT, NODE, "kube deleteControlNode c3 uid-controlnode-c3", LEASE];
export const RESET = ["c3 reset /var/lib/k0s", "c3 cleanUp /var/lib/k0s", "c3 removeMarker"];
