import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { LeaseObject, PodObject } from "../../provider/adapters/kube";
import { cluster, member, memberId, node, NOW, record } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, type SceneOptions, stagesOf } from "../support/fake-operation";
import { DELETED, LEASE, leave, leaving, NODE, OBJECT, removeC3, RESET } from "./leaving";
import { HAPPY_CONTROLLER, LEFT_ALREADY } from "./scenes";

/** What was changed anywhere, and what was proven between. */
const steps = ({ calls }: Scene): string[] =>
    calls.filter((call) =>
        /^lock|Marker|setUnsch|service |patch|delete|removeMember|moveLeader|reset|cleanUp/.test(call),
    );

const RECORDED = ["lock record remove", "c3 writeMarker controller remove"];
const DRAINED = ["kube setUnschedulable c3 true"];
const STOPPED = ["c3 service disable controller", "c3 service stop controller"];
const ANNOTATED = "kube patchEtcdMember c3 uid-etcdmember-c3 annotated";
const ASKED = "kube patchEtcdMember c3 uid-etcdmember-c3 leave=true";
const ENDING: PodObject = {
    ...{ namespace: "shop", name: "db", uid: "uid-db", phase: "Running", ownerKind: "StatefulSet" },
    ...{ mirror: false, deleting: true, finalizers: [] },
};
/** Each deletion and each change of the host needs the lock. */
const UNDER_LOCK = [
    "lock prove",
    NODE,
    "kube deleteControlNode c3 uid-controlnode-c3",
    "lock prove",
    LEASE,
    "lock prove",
    "c3 reset /var/lib/k0s",
    "lock prove",
    ...RESET.slice(1),
];

describe("removing a controller", () => {
    it("drains, leaves, stops, deletes its records, resets and verifies, in this order", async () => {
        const world = leaving();
        await removeC3(world);
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
            "noting the removal",
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
        await removeC3(world);
        assert.deepEqual(removing, ["f03"]);
    });

    it("leaves etcd before it drains a broken host", async () => {
        const world = leaving();
        await removeC3(world, { steps: { ...HAPPY_CONTROLLER, order: "leave-first" } });
        const order = steps(world).filter((call) => [ASKED, STOPPED[1], DRAINED[0]].includes(call));
        assert.deepEqual(order, [ASKED, STOPPED[1], DRAINED[0]]);
    });

    it("leaves by ID before the rest of the drain where the kubelet of a host that nobody reaches ends meanwhile", async () => {
        const renewed = (age: number): LeaseObject =>
            ({ renewTime: new Date(NOW - age).toISOString() }) as Partial<LeaseObject> as LeaseObject;
        const drained = async (seen: readonly (LeaseObject | undefined)[]): Promise<Scene> => {
            const left = [...seen];
            const world: Scene = leaving({
                kube: {
                    lease: async (namespace) =>
                        namespace === "kube-node-lease" ? left.shift() : world.operation.held.lease,
                    podsOn: async () => (left.length > 0 ? [ENDING] : []),
                },
            });
            await removeC3(world, { host: undefined });
            return world;
        };
        const order = (world: Scene): string[] =>
            stagesOf(world).filter((one) => /^(draining|leaving etcd)$/.test(one));
        for (const lease of [renewed(21_000), undefined]) {
            const ended = await drained([renewed(20_000), lease]);
            assert.deepEqual(order(ended), ["draining", "leaving etcd", "draining"]);
            assert.ok(ended.calls.includes("etcd removeMember f03"));
        }
        const alive = await drained([renewed(0), renewed(20_000)]);
        assert.deepEqual(order(alive), ["draining", "leaving etcd"]);
        assert.deepEqual(only(alive.calls, "etcd removeMember"), []);
    });

    it("moves leadership away before it leaves", async () => {
        const world = leaving({ cluster: cluster({ leaderId: memberId("c3") }) });
        await removeC3(world);
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
            await removeC3(world, change);
            assert.ok(!stagesOf(world).includes("moving etcd leadership"));
        });
    }

    it("goes by ID where the decision says so, and where there is no object to ask", async () => {
        const byId = leaving();
        await removeC3(byId, { howToLeave: "member-remove" });
        assert.deepEqual(only(byId.calls, "etcd removeMember", "kube patch"), [
            ANNOTATED,
            "etcd removeMember f03",
            ASKED,
        ]);
        const noObject = leaving();
        await removeC3(noObject, { object: undefined });
        assert.deepEqual(only(noObject.calls, "etcd removeMember", "kube patch"), ["etcd removeMember f03"]);
        assert.deepEqual(only(noObject.calls, OBJECT), []);
    });

    it("only waits for a leave that was asked for before", async () => {
        const world = leaving();
        leave(world);
        await removeC3(world, { steps: { ...HAPPY_CONTROLLER, leave: "wait-left" } });
        assert.ok(stagesOf(world).includes("waiting for the member to leave"));
        assert.deepEqual(only(world.calls, "etcd removeMember", "kube patch"), []);
    });

    it("asks nothing of etcd where there is no member", async () => {
        const world = leaving({ cluster: cluster({ members: ["c1", "c2"].map((name) => member(name)) }) });
        leave(world);
        await removeC3(world, { member: undefined, steps: LEFT_ALREADY });
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
        await removeC3(world, { member: dead, howToLeave: "member-remove", host: undefined });
        assert.deepEqual(only(world.calls, "etcd removeMember", NODE), ["etcd removeMember f03", NODE]);
    });

    it("finishes what an interrupted run began while another one is dead, but nothing else", async () => {
        const left = NAMES.filter((name) => name !== "c3");
        const begun = { member: undefined, steps: LEFT_ALREADY, resumes: record("remove", { removing: "f03" }) };
        const world = leaving(twoDead(left));
        leave(world);
        await removeC3(world, begun);
        assert.deepEqual(only(world.calls, NODE), [NODE]);
        const unexplained = leaving(twoDead(left));
        await assert.rejects(removeC3(unexplained, { member: undefined, steps: LEFT_ALREADY }), {
            topic: "unhealthy-bystander",
        });
    });

    it("finishes what an interrupted run began whatever is wrong elsewhere, and says where that is only half of the truth", async () => {
        const members = ["c1", "c2"].map((name) => member(name));
        const nodes = [...cluster().nodes, node("w9", { ready: false })];
        const options = { cluster: cluster({ members, nodes }), begunBefore: true };
        const begun = { member: undefined, steps: LEFT_ALREADY, resumes: record("remove", { removing: "f03" }) };
        const world = leaving(options);
        leave(world);
        await removeC3(world, begun);
        assert.deepEqual(only(world.calls, NODE), [NODE]);
        // A rest that is not of our own removal, and another member's.
        const others = {
            ...record("remove", { removing: "f03" }),
            owner: "organization/other/dev/x",
            target: "10.0.0.3",
        };
        const unexplained = leaving(options);
        Object.assign(unexplained.operation.held, { found: others });
        await assert.rejects(
            removeC3(unexplained, { member: undefined, steps: LEFT_ALREADY }),
            /Node w9 is NotReady\nNothing more was changed\. Repair this first/,
        );
        const first = leaving({ cluster: cluster({ nodes }) });
        await assert.rejects(removeC3(first), /Node w9 is NotReady\nNothing was changed\. Repair this first/);
    });

    it("goes on with what follows a change of members, and still says which, however often it is interrupted", async () => {
        const removing: (string | undefined)[] = [];
        const found = { ...record("remove", { removing: "f03" }), target: "10.0.0.3" };
        const world = leaving({
            cluster: cluster({ members: ["c1", "c2"].map((name) => member(name)) }),
            lock: { record: async (written) => void removing.push(written.removing) },
        });
        const { owner } = world.operation.inputs;
        Object.assign(world.operation.held, { found: { ...found, owner } });
        leave(world);
        await removeC3(world, { member: undefined, object: undefined, steps: LEFT_ALREADY, host: undefined });
        assert.deepEqual(removing, ["f03"]);
        assert.equal(stagesOf(world).at(-1), "post-operation backup");
    });

    it("leaves the lease of another controller alone that has its name by now", async () => {
        const namesake = member("c9", { name: "c3" });
        const facts = cluster({ nodes: [...cluster().nodes, node("c9")] });
        const world = leaving({ cluster: { ...facts, members: [...facts.members, namesake] } });
        await removeC3(world);
        assert.deepEqual(
            only(world.calls, "kube delete"),
            DELETED.filter((call) => call !== LEASE),
        );
    });

    it("does only the cluster's side without a host", async () => {
        const world = leaving();
        await removeC3(world, { host: undefined });
        assert.deepEqual(only(world.calls, "c3"), []);
        assert.deepEqual(only(world.calls, "kube delete"), DELETED);
        assert.deepEqual(stagesOf(world).slice(-3), ["verifying etcd", "noting the removal", "post-operation backup"]);
        const removed = JSON.stringify([{ addresses: ["10.0.0.3"], memberId: "f03", etcdClusterId: "abc" }]);
        const noted = JSON.stringify({ "pulumi-mke/removed-controllers": removed });
        assert.deepEqual(only(world.calls, "kube annotateCluster"), [`kube annotateCluster ${noted}`]);
    });
});
