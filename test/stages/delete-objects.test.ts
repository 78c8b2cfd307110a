import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { RefusedError, TimeoutError } from "../../provider/errors";
import {
    deleteControllerLease,
    deleteControlNode,
    deleteEtcdMember,
    deleteNode,
} from "../../provider/stages/delete-objects";
import { controlNode, etcdMember, node } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, scene } from "../support/fake-operation";

const object = etcdMember("c3");
const DELETED = "kube deleteEtcdMember c3 uid-etcdmember-c3";

const remove = (world: Scene, mustSayLeft: boolean, milliseconds = 0): Promise<unknown> =>
    deleteEtcdMember(world.operation, object, mustSayLeft, Deadline.after(milliseconds));
const deletions = ({ calls }: Scene): string[] => only(calls, "kube delete");

describe("the EtcdMember of a member that left", () => {
    it("is deleted once k0s says that it left", async () => {
        let looks = 0;
        const world = scene({
            kube: { etcdMembers: async () => [etcdMember("c3", { joined: (looks += 1) < 2 ? "True" : "False" })] },
        });
        assert.equal(await remove(world, true, 60_000), "c3 deleted");
        assert.equal(looks, 2);
        assert.deepEqual(world.calls.slice(-2), ["kube etcdMembers", DELETED]);
    });

    it("is deleted all the same after our own leave, with a warning", async () => {
        const world = scene();
        assert.equal(await remove(world, false), "c3 deleted although k0s never marked it as left");
        assert.deepEqual(deletions(world), [DELETED]);
    });

    it("is not deleted where the matrix waits for k0s to say so", async () => {
        const world = scene();
        await assert.rejects(remove(world, true), (error: Error) => {
            assert.ok(error instanceof TimeoutError);
            assert.match(error.message, /last seen: Joined=True\nRunbook: .*#interrupted-removal/);
            return true;
        });
        assert.deepEqual(deletions(world), []);
    });

    it("is known by its UID: another object of that name is not waited for", async () => {
        const world = scene();
        world.kube.etcdMembers = [etcdMember("c3", { uid: "of a new member" })];
        assert.equal(await remove(world, true), "c3 deleted");
        assert.deepEqual(deletions(world), [DELETED]);
        assert.equal(world.kube.etcdMembers.length, 1);
    });

    it("stays when the API refuses to show it", async () => {
        const broken = new RefusedError({ stage: "asking", what: "no" });
        const world = scene({ kube: { etcdMembers: () => Promise.reject(broken) } });
        await assert.rejects(remove(world, false, 60_000), broken);
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
