import { LEAVE_ANNOTATION, LEAVE_OPERATION_ANNOTATION, type Verdict } from "../../provider/decide/etcd-verdict";
import type { Scenario } from "../../provider/decide/matrix";
import { RESOURCES } from "../sim";
import type { SimCluster } from "../sim/k0s/cluster";
import type { EtcdMember } from "../sim/model/etcd";
import { resetHost } from "../sim/programs/k0s";
import { settle } from "../sim/scene";
import type { World } from "./world";

/**
 * What happens to a healthy node so that it gets into the state of a cell: by hand or by what k0s does, never through the
 * package's own code. A removal of ours is told apart from others' by the annotation alone; its record is gone.
 */
export function bringAbout(world: World, scenario: Scenario, verdict: Verdict | undefined): void {
    if (scenario === 5 || scenario === 8) movedToAnotherCluster(world);
    const { before, after } = CAUSES[verdict ?? "VerdictHealthy"];
    before?.(world);
    HOST_CAUSES[scenario](world);
    after?.(world);
    world.sim.advance(15);
}

const SETTLED = 90;
const K0S = "/usr/local/bin/k0s";
const DATA_DIR = "/var/lib/k0s";

const HOST_CAUSES: Readonly<Record<Scenario, (world: World) => void>> = {
    0: resetByHand,
    1: (world) => {
        resetByHand(world);
        world.target.files.remove(K0S);
    },
    2: () => undefined,
    3: kubeletDies,
    4: deleteNode,
    5: () => undefined,
    6: stopK0s,
    7: (world) => {
        stopK0s(world);
        deleteNode(world);
    },
    8: stopK0s,
    9: (world) => {
        stopK0s(world);
        for (const path of ["pki", "kubelet.conf"]) world.target.files.removeTree(`${DATA_DIR}/${path}`);
        world.target.files.removeTree("/run/k0s");
    },
    10: (world) => {
        stopK0s(world);
        for (const name of ["k0scontroller", "k0sworker"] as const) world.target.units.remove(name);
        world.target.files.remove(K0S);
    },
};

/** `before`: while the host lives. `after`: when it is in the state of its scenario. */
interface Cause {
    readonly before?: (world: World) => void;
    readonly after?: (world: World) => void;
}

const CAUSES: Readonly<Record<Verdict, Cause>> = {
    VerdictHealthy: {},
    // k0s etcd leave on another controller, then kubectl delete etcdmember
    VerdictClean: {
        before: (world) => {
            removeFromOutside(world);
            deleteObject(world);
        },
    },
    VerdictLeaveRequested: { after: requestLeaveThatHangs },
    // removed by ID and told to k0s, as this package does it, while the k0s leader hangs
    VerdictLeftCRNotUpdated: {
        before: (world) => {
            clusterOf(world).leader.hangs = true;
            removeFromOutside(world);
            askToLeave(world, true);
        },
    },
    VerdictMemberLeftCRNeedsCleanup: {
        before: (world) => {
            removeFromOutside(world);
            askToLeave(world, true);
            world.sim.advance(15);
        },
    },
    VerdictHazardCRMissing: { before: deleteObject },
    VerdictOOBRemovalStaleCR: {
        before: (world) => {
            removeFromOutside(world);
            world.sim.advance(15);
        },
    },
    // our leave is taken back by a restart (k0s#8141), and then somebody else removes the member
    VerdictCorruptedRemoval: {
        before: (world) => {
            world.sim.revokeLeave(world.name);
            askToLeave(world, true);
            world.sim.advance(60);
            removeFromOutside(world);
            world.sim.advance(15);
        },
    },
    // kubectl delete etcdmember, k0s creates it anew, and the write of its status fails
    VerdictCRStatusNeverWritten: {
        before: (world) => {
            deleteObject(world);
            world.target.losesMemberStatus = true;
            restart(world);
        },
    },
    // removed and reset, and joined again; the write of the new ID fails
    VerdictCRStatusStale: {
        before: (world) => {
            removeFromOutside(world);
            world.sim.advance(15);
            resetByHand(world);
            world.target.losesMemberStatus = true;
            world.sim.addSettled(world.name, "controller+worker");
        },
    },
    // renamed and back: two objects for one member (k0s#5369)
    VerdictUnknown: {
        before: (world) => {
            const { hostName } = world.target;
            world.target.hostName = "renamed";
            restart(world);
            world.target.hostName = hostName;
            restart(world);
        },
    },
};

/** What was held up goes on: the k0s leader, the controller's lease, the kubelet; or five minutes pass for a dead member. */
export function letItGoOn(world: World): void {
    const cluster = clusterOf(world);
    world.sim.world.act(() => {
        cluster.leader.hangs = false;
        const daemon = cluster.daemonAt(world.target);
        if (daemon !== undefined) cluster.takeLease(daemon);
        const kubelet = cluster.kubelets.get(world.name);
        if (kubelet?.running === false && world.target.units.daemon !== undefined) kubelet.start(1);
    });
    world.sim.advance(340);
}

function clusterOf({ sim }: World): SimCluster {
    return sim.cluster;
}

function memberOf(world: World): EtcdMember {
    const member = world.sim.members().find(({ peerAddress }) => peerAddress === world.target.address);
    if (member === undefined) throw new Error(`${world.name} is no member`);
    return member;
}

function removeFromOutside(world: World): void {
    world.sim.removeMemberFromOutside(memberOf(world).id);
}

function deleteObject(world: World): void {
    world.sim.world.act(() => clusterOf(world).store.delete(RESOURCES.etcdMembers, world.name));
}

function deleteNode(world: World): void {
    world.sim.world.act(() => clusterOf(world).store.delete(RESOURCES.nodes, world.name));
}

function askToLeave(world: World, asThisPackage: boolean): void {
    world.sim.world.act(() =>
        clusterOf(world).store.update(RESOURCES.etcdMembers, world.name, (object) => {
            object.spec = { ...object.spec, leave: true };
            if (!asThisPackage) return;
            const annotations = { [LEAVE_ANNOTATION]: idOf(object.status), [LEAVE_OPERATION_ANNOTATION]: "earlier" };
            object.metadata.annotations = { ...object.metadata.annotations, ...annotations };
        }),
    );
}

function idOf(status: Record<string, unknown> | undefined): string {
    return String(status?.["memberID"]);
}

/** kubectl patch; a live controller whose lease is missing is waited for without end, a dead one for five minutes. */
function requestLeaveThatHangs(world: World): void {
    const isAlive = clusterOf(world).daemonAt(world.target) !== undefined;
    if (isAlive) {
        const { store } = clusterOf(world);
        world.sim.world.act(() => store.delete(RESOURCES.leases, `k0s-ctrl-${world.name}`, "kube-node-lease"));
    }
    askToLeave(world, false);
}

function kubeletDies(world: World): void {
    world.sim.world.act(() => clusterOf(world).kubelets.get(world.name)?.stop());
    world.sim.advance(SETTLED);
}

function stopK0s(world: World): void {
    world.target.stopService();
    world.sim.advance(SETTLED);
}

function restart(world: World): void {
    world.target.stopService();
    world.target.startService();
    world.sim.advance(SETTLED);
}

/** `systemctl stop`, `k0s reset`. */
function resetByHand(world: World): void {
    stopK0s(world);
    world.sim.world.act(() => resetHost(world.target, DATA_DIR, `${DATA_DIR}/kubelet`));
}

/** Taken out and reset properly, then made a node of a second cluster. */
function movedToAnotherCluster(world: World): void {
    const { sim, kind } = world;
    if (kind === "controller") {
        removeFromOutside(world);
        deleteObject(world);
    }
    resetByHand(world);
    deleteNode(world);
    const other = world.machine("x1", 21);
    sim.world.act(() => {
        const cluster = settle(other, "controller+worker", undefined, {});
        settle(world.target, kind === "worker" ? "worker" : "controller+worker", cluster, {});
    });
}
