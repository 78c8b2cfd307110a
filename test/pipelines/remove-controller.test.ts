import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { ConnectionError } from "../../provider/errors";
import { type ControllerRemoval, removeController } from "../../provider/pipelines/remove-controller";
import { cluster, controllerHost, controlNode, etcdMember, member, memberId, node, record } from "../decide/build";
import { only } from "../support/fake-calls";
import { ownServers, type Scene, type SceneOptions, scene, stagesOf } from "../support/fake-operation";
import { HAPPY_CONTROLLER, LEFT_ALREADY } from "./scenes";

let restore = (): void => undefined;
afterEach(() => restore());

/** c3 of three; k0s does what its object says. */
function leaving(options: SceneOptions = {}): Scene {
    const world: Scene = scene({
        hostFacts: controllerHost("c3"),
        ...options,
        kube: { patchEtcdMember: async () => leave(world), ...options.kube },
    });
    restore = ownServers(world);
    return world;
}

function leave({ etcd, kube }: Scene): void {
    etcd.members = etcd.members.filter(({ id }) => id !== memberId("c3"));
    kube.etcdMembers = kube.etcdMembers.map((one) => (one.name === "c3" ? { ...one, joined: "False" } : one));
}

const remove = (world: Scene, change: Partial<ControllerRemoval> = {}): Promise<void> =>
    removeController(world.operation, {
        steps: HAPPY_CONTROLLER,
        howToLeave: "spec-leave",
        member: member("c3"),
        object: etcdMember("c3"),
        node: node("c3"),
        controlNode: controlNode("c3"),
        host: world.operation,
        ...change,
    });

/** What was changed anywhere, and what was proven between. */
const steps = ({ calls }: Scene): string[] =>
    calls.filter((call) =>
        /^lock|Marker|setUnsch|service |patch|delete|removeMember|moveLeader|reset|cleanUp/.test(call),
    );

const RECORDED = ["lock record remove", "c3 writeMarker controller remove"];
const DRAINED = ["kube setUnschedulable c3 true"];
const STOPPED = ["c3 service disable controller", "c3 service stop controller"];
const ASKED = "kube patchEtcdMember c3 uid-etcdmember-c3 leave=true";
const OBJECT = "kube deleteEtcdMember c3 uid-etcdmember-c3";
const NODE = "kube deleteNode c3 uid-node-c3";
const DELETED = [
    OBJECT,
    NODE,
    "kube deleteControlNode c3 uid-controlnode-c3",
    "kube deleteLease kube-node-lease k0s-ctrl-c3",
];
const RESET = ["c3 reset /var/lib/k0s", "c3 cleanUp /var/lib/k0s", "c3 removeMarker"];
/** Each deletion and each change of the host needs the lock. */
const UNDER_LOCK = [
    "lock prove",
    NODE,
    "kube deleteControlNode c3 uid-controlnode-c3",
    "lock prove",
    "kube deleteLease kube-node-lease k0s-ctrl-c3",
    "lock prove",
    "c3 reset /var/lib/k0s",
    "lock prove",
    ...RESET.slice(1),
];
const HOST_GONE = ["c3 service", "c3 reset", "c3 cleanUp"];

describe("removing a controller", () => {
    it("drains, leaves, stops, deletes its records, resets and verifies, in this order", async () => {
        const world = leaving();
        await remove(world);
        assert.deepEqual(stagesOf(world), [
            "comparing versions",
            "checking the cluster",
            "pre-operation backup",
            "recording the operation",
            "cordoning",
            "draining",
            "moving etcd leadership",
            "leaving etcd",
            "stopping k0s",
            "deleting the EtcdMember",
            "deleting the Node",
            "deleting the ControlNode",
            "deleting the controller's lease",
            "resetting",
            "cleaning folders",
            "verifying etcd",
            "post-operation backup",
        ]);
        assert.deepEqual(steps(world), [
            ...RECORDED,
            ...DRAINED,
            "lock prove",
            "lock stretch 900",
            "lock prove",
            "lock prove",
            ASKED,
            "lock prove",
            ...STOPPED,
            "lock stretch 60",
            "lock prove",
            OBJECT,
            ...UNDER_LOCK,
        ]);
    });

    it("records which member is to go", async () => {
        const removing: (string | undefined)[] = [];
        const world = leaving({ lock: { record: async (written) => void removing.push(written.removing) } });
        await remove(world);
        assert.deepEqual(removing, ["f03"]);
    });

    it("leaves etcd before it drains a broken host", async () => {
        const world = leaving();
        await remove(world, { steps: { ...HAPPY_CONTROLLER, order: "leave-first" } });
        const order = steps(world).filter((call) => [ASKED, STOPPED[1], DRAINED[0]].includes(call));
        assert.deepEqual(order, [ASKED, STOPPED[1], DRAINED[0]]);
    });

    it("moves leadership away before it leaves", async () => {
        const world = leaving({ cluster: cluster({ leaderId: memberId("c3") }) });
        await remove(world);
        const [moved, asked] = steps(world).filter((call) => /moveLeader|patch/.test(call));
        assert.deepEqual([moved, asked], ["etcd of c3 moveLeader f01", ASKED]);
    });

    for (const [which, change] of [
        ["whose etcd is not healthy", { member: member("c3", { health: "unhealthy" }) }],
        ["that is a learner", { member: member("c3", { learner: true }) }],
        ["whose host is not touched", { host: undefined }],
    ] as const) {
        it(`asks a member ${which} for no leadership`, async () => {
            const world = leaving();
            await remove(world, change);
            assert.ok(!stagesOf(world).includes("moving etcd leadership"));
        });
    }

    it("goes by ID where the decision says so, and where there is no object to ask", async () => {
        const byId = leaving();
        await remove(byId, { howToLeave: "member-remove" });
        assert.deepEqual(only(byId.calls, "etcd removeMember", "kube patch"), ["etcd removeMember f03", ASKED]);
        const noObject = leaving();
        await remove(noObject, { object: undefined });
        assert.deepEqual(only(noObject.calls, "etcd removeMember", "kube patch"), ["etcd removeMember f03"]);
        assert.deepEqual(only(noObject.calls, OBJECT), []);
    });

    it("only waits for a leave that was asked for before", async () => {
        const world = leaving();
        leave(world);
        await remove(world, { steps: { ...HAPPY_CONTROLLER, leave: "wait-left" } });
        assert.ok(stagesOf(world).includes("waiting for the member to leave"));
        assert.deepEqual(only(world.calls, "etcd removeMember", "kube patch"), []);
    });

    it("asks nothing of etcd where there is no member", async () => {
        const world = leaving({ cluster: cluster({ members: ["c1", "c2"].map((name) => member(name)) }) });
        leave(world);
        await remove(world, { member: undefined, steps: LEFT_ALREADY });
        assert.deepEqual(only(world.calls, "etcd removeMember", "kube patch", "etcd move"), []);
        // The object goes first: it tells of a member that is no more, whatever comes of the rest.
        const gone = steps(world);
        assert.ok(gone.indexOf(OBJECT) < gone.indexOf(DRAINED[0] ?? ""));
        assert.deepEqual(gone.slice(-UNDER_LOCK.length), UNDER_LOCK);
    });

    const NAMES = ["c1", "c2", "c3", "c4", "c5"];
    const DEAD = ["c3", "c4"];
    /** Their kubelets are gone for longer than a Node may wobble; c4 has a Node as long as nobody removes it. */
    const twoDead = (members = NAMES): SceneOptions => ({
        cluster: cluster(
            {
                members: members.map((name) => member(name, DEAD.includes(name) ? { health: "unhealthy" } : {})),
                nodes: NAMES.map((name) => node(name, { ready: !DEAD.includes(name) })),
            },
            NAMES,
        ),
    });

    it("takes out a dead controller while another one is dead, too", async () => {
        const world = leaving(twoDead());
        const { members } = world.operation.clusterFacts;
        const dead = members.find(({ name }) => name === "c3");
        await remove(world, { member: dead, howToLeave: "member-remove", host: undefined });
        assert.deepEqual(only(world.calls, "etcd removeMember", NODE), ["etcd removeMember f03", NODE]);
    });

    it("finishes what an interrupted run began while another one is dead, but nothing else", async () => {
        const left = NAMES.filter((name) => name !== "c3");
        const begun = { member: undefined, steps: LEFT_ALREADY, resumes: record("remove", { removing: "f03" }) };
        const world = leaving(twoDead(left));
        leave(world);
        await remove(world, begun);
        assert.deepEqual(only(world.calls, NODE), [NODE]);
        const unexplained = leaving(twoDead(left));
        await assert.rejects(remove(unexplained, { member: undefined, steps: LEFT_ALREADY }), {
            topic: "unhealthy-bystander",
        });
    });

    it("goes on with what follows a change of members, and still says which, however often it is interrupted", async () => {
        const removing: (string | undefined)[] = [];
        const found = { ...record("remove", { removing: "f03" }), target: "10.0.0.3" };
        const world = leaving({
            cluster: cluster({ members: ["c1", "c2"].map((name) => member(name)) }),
            lock: { record: async (written) => void removing.push(written.removing) },
        });
        Object.assign(world.operation.held, { found });
        leave(world);
        await remove(world, { member: undefined, object: undefined, steps: LEFT_ALREADY, host: undefined });
        assert.deepEqual(removing, ["f03"]);
        assert.equal(stagesOf(world).at(-1), "post-operation backup");
    });

    it("does only the cluster's side without a host", async () => {
        const world = leaving();
        await remove(world, { host: undefined });
        assert.deepEqual(only(world.calls, "c3"), []);
        assert.deepEqual(only(world.calls, "kube delete"), DELETED);
        assert.deepEqual(stagesOf(world).slice(-2), ["verifying etcd", "post-operation backup"]);
    });
});

describe("a controller's removal that goes wrong", () => {
    it("touches neither etcd nor the host when the members changed since the decision", async () => {
        const world: Scene = leaving({
            kube: { setUnschedulable: async () => void (world.etcd.members = world.etcd.members.slice(1)) },
        });
        await assert.rejects(remove(world), /the etcd members changed since the decision/);
        assert.deepEqual(only(world.calls, "kube patch", "etcd removeMember", "kube delete", ...HOST_GONE), []);
    });

    it("touches neither etcd nor the host when another controller died during the drain", async () => {
        for (const howToLeave of ["spec-leave", "member-remove"] as const) {
            let alive = true;
            const world = leaving({
                kube: { setUnschedulable: async () => void (alive = false) },
                others: { isReady: async () => alive },
            });
            await assert.rejects(remove(world, { howToLeave }), { name: "RefusedError", topic: "quorum" });
            assert.deepEqual(only(world.calls, "kube patch", "etcd removeMember", "kube delete", ...HOST_GONE), []);
        }
    });

    it("touches neither etcd nor the host when the lock was lost", async () => {
        const world: Scene = leaving({ kube: { setUnschedulable: async () => world.loseLock() } });
        await assert.rejects(remove(world), { name: "LockError" });
        assert.deepEqual(only(world.calls, "kube patch", "etcd removeMember", "kube delete", ...HOST_GONE), []);
    });

    it("resets nothing when the lock was lost after the leave", async () => {
        const world: Scene = leaving({ kube: { deleteControlNode: async () => world.loseLock() } });
        await assert.rejects(remove(world), { name: "LockError" });
        assert.deepEqual(only(world.calls, "c3 reset", "c3 cleanUp"), []);
    });

    for (const [what, before, kept] of [
        ["no Node", "deleteEtcdMember", NODE],
        ["no lease of a controller", "deleteControlNode", DELETED[3] ?? ""],
    ] as const) {
        it(`deletes ${what} when the lock was lost just before`, async () => {
            const world: Scene = leaving({ kube: { [before]: async () => world.loseLock() } });
            await assert.rejects(remove(world), { name: "LockError" });
            assert.deepEqual(only(world.calls, kept, "c3 reset", "c3 cleanUp"), []);
        });
    }

    it("cleans no folder when the lock was lost during the reset", async () => {
        const world: Scene = leaving({
            target: {
                reset: async () => {
                    world.loseLock();
                    return { exitCode: 0, output: "" };
                },
            },
        });
        await assert.rejects(remove(world), { name: "LockError" });
        assert.deepEqual(only(world.calls, "c3 cleanUp", "c3 removeMarker"), []);
    });

    it("is not ended by an API that is away for a moment after the leave", async () => {
        let away = true;
        const stretch = async (seconds: number): Promise<void> => {
            if (seconds !== 60 || !away) return;
            away = false;
            throw new ConnectionError({ stage: "holding the lock", what: "connection refused" });
        };
        const world = leaving({ lock: { stretch } });
        await remove(world);
        assert.equal(away, false);
    });

    it("does not stop, delete or reset anything while the member is in etcd after all", async () => {
        let looks = 0;
        const { members } = cluster();
        const listing = members.map(({ peerHosts, ...one }) => ({
            ...one,
            peerUrls: [`https://${peerHosts[0] ?? ""}:2380`],
        }));
        const world = leaving({
            etcd: {
                // gone when the leave is watched, and there again when it is proven
                members: async () => ({
                    clusterId: 0xabcn,
                    members: (looks += 1) === 3 ? listing.slice(0, 2) : listing,
                }),
            },
        });
        await assert.rejects(remove(world), /member f03 is still in etcd; resetting its host would leave a ghost/);
        assert.deepEqual(only(world.calls, "kube delete", ...HOST_GONE), []);
    });

    it("does not delete the object of a member that left for other reasons before k0s says so", async () => {
        const { timeouts } = leaving().operation.inputs;
        const options = { inputs: { timeouts: { ...timeouts, leave: 0, api: 0 } } };
        const waiting = { member: undefined, steps: { ...LEFT_ALREADY, leave: "wait-joined-false" as const } };
        const world = leaving(options);
        await assert.rejects(remove(world, waiting), { name: "TimeoutError" });
        assert.deepEqual(only(world.calls, "kube deleteEtcdMember", "c3 reset"), []);

        const ours = leaving(options);
        ours.etcd.members = ours.etcd.members.slice(0, 2);
        await assert.rejects(remove(ours, { ...waiting, resumes: record("remove") }), /verifying etcd/);
        assert.deepEqual(only(ours.calls, "kube deleteEtcdMember", "c3 reset"), [OBJECT, "c3 reset /var/lib/k0s"]);
    });

    it("fails in the end when a bystander is not healthy any more", async () => {
        const { timeouts } = leaving().operation.inputs;
        const world: Scene = leaving({
            inputs: { timeouts: { ...timeouts, api: 0 } },
            others: { isReady: async () => world.etcd.members.length === 3 },
        });
        await assert.rejects(remove(world), /verifying etcd on 10\.0\.0\.1: .*c2 .* is not healthy/);
    });
});
