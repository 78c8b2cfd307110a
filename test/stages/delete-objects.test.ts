import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { RefusedError, TimeoutError } from "../../provider/errors";
import {
    deleteControllerLease,
    deleteControlNode,
    deleteEtcdMember,
    deleteNode,
    waitUntilMarkedLeft,
} from "../../provider/stages/delete-objects";
import type { Outcome } from "../../provider/stages/stage";
import { controlNode, etcdMember, node } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, scene, type SceneOptions } from "../support/fake-operation";
import { warningOf } from "../support/outcome";

const object = etcdMember("c3");
const DELETED = "kube deleteEtcdMember c3 uid-etcdmember-c3";

const remove = (world: Scene, milliseconds = 0): Promise<Outcome> =>
    deleteEtcdMember(world.operation, object, Deadline.after(milliseconds));
const deletions = ({ calls }: Scene): string[] => only(calls, "kube delete");

/** Its member has left etcd. */
function left(options: SceneOptions = {}): Scene {
    const world = scene(options);
    world.etcd.members = world.etcd.members.slice(0, 2);
    return world;
}

describe("the EtcdMember of a member that left", () => {
    it("is deleted once k0s says that it left", async () => {
        let looks = 0;
        const world = left({
            kube: { etcdMembers: async () => [etcdMember("c3", { joined: (looks += 1) < 2 ? "True" : "False" })] },
        });
        assert.equal(await remove(world, 60_000), "c3 deleted");
        assert.equal(looks, 2);
        assert.deepEqual(deletions(world), [DELETED]);
    });

    it("is deleted in the end although k0s never says so, with a warning", async () => {
        const world = left();
        assert.equal(warningOf(await remove(world)), "c3 deleted; warning: k0s never marked it as left");
        assert.deepEqual(deletions(world), [DELETED]);
    });

    it("is not deleted while etcd lists its member, before or after the wait", async () => {
        const world = scene();
        await assert.rejects(remove(world), /member f03 of EtcdMember c3 is still in etcd/);
        const back = left();
        const [first, second] = [back.etcd.members, world.etcd.members];
        let reads = 0;
        const again = scene({
            etcd: { members: async () => ({ clusterId: 0xabcn, members: (reads += 1) === 1 ? first : second }) },
        });
        await assert.rejects(remove(again), /is still in etcd/);
        assert.deepEqual([...deletions(world), ...deletions(again)], []);
    });

    it("is only waited for where the matrix says so", async () => {
        const world = left();
        await assert.rejects(waitUntilMarkedLeft(world.operation, object, Deadline.after(0)), (error: Error) => {
            assert.ok(error instanceof TimeoutError);
            assert.match(error.message, /last seen: Joined=True\nRunbook: .*#interrupted-removal/);
            return true;
        });
        assert.deepEqual(deletions(world), []);
    });

    it("is known by its UID: another object of that name is not waited for", async () => {
        const world = left();
        world.kube.etcdMembers = [etcdMember("c3", { uid: "of a new member" })];
        assert.equal(await remove(world), "c3 deleted");
        assert.deepEqual(deletions(world), [DELETED]);
        assert.equal(world.kube.etcdMembers.length, 1);
    });

    it("stays when the API refuses to show it", async () => {
        const broken = new RefusedError({ stage: "asking", what: "no" });
        const world = left({ kube: { etcdMembers: () => Promise.reject(broken) } });
        await assert.rejects(remove(world, 60_000), broken);
        assert.deepEqual(deletions(world), []);
    });
});

describe("the other objects of a node", () => {
    it("are deleted by name and UID", async () => {
        const world = scene();
        assert.equal(await deleteNode(world.operation, node("c3")), "c3");
        assert.equal(await deleteControlNode(world.operation, controlNode("c3")), "c3");
        assert.deepEqual(world.calls, [
            "kube deleteNode c3 uid-node-c3",
            "kube deleteControlNode c3 uid-controlnode-c3",
        ]);
    });

    it("include the lease of the controller's own components", async () => {
        const world = scene();
        await deleteControllerLease(world.operation);
        assert.deepEqual(world.calls, ["kube deleteLease kube-node-lease k0s-ctrl-c3"]);
    });
});
