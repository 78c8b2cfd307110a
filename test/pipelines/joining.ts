import { cluster, controlNode, etcdMember, member, node } from "../decide/build";
import { listed } from "../support/fake-etcd";
import { ownServers, type Scene, type SceneOptions, scene } from "../support/fake-operation";

/** A blank c3 beside c1 and c2; it becomes a member and a Node as soon as its service starts. */
export function joining(options: SceneOptions = {}): Scene {
    const world: Scene = scene({
        cluster: cluster({}, ["c1", "c2"]),
        ...options,
        target: {
            service: async (action) => {
                if (action === "start") appear(world);
            },
            ...options.target,
        },
    });
    ownServers(world);
    return world;
}

function appear({ etcd, kube }: Scene): void {
    etcd.members = [...etcd.members.filter(({ name }) => name !== "c3" && name !== ""), listed(member("c3"))];
    kube.etcdMembers = [...kube.etcdMembers, etcdMember("c3")];
    kube.controlNodes = [...kube.controlNodes, controlNode("c3")];
    kube.nodes = [...kube.nodes, node("c3")];
}
