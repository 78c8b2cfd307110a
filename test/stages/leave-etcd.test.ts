import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { ApiError, LockError, RefusedError, TimeoutError } from "../../provider/errors";
import type { EtcdMemberObject } from "../../provider/facts/cluster";
import {
    leaveById,
    leaveBySpec,
    moveLeadership,
    proveLeft,
    removeUnstarted,
    waitUntilLeft,
} from "../../provider/stages/leave-etcd";
import { nothingToDo } from "../../provider/stages/stage";
import { cluster, etcdMember, member, memberId } from "../decide/build";
import { only } from "../support/fake-calls";
import { listed } from "../support/fake-etcd";
import { ownServers, type Scene, type SceneOptions, scene } from "../support/fake-operation";

const c3 = member("c3");
const object = etcdMember("c3");
const REMOVED = "etcd removeMember f03";
const ANNOTATED = "kube patchEtcdMember c3 uid-etcdmember-c3 annotated";
const PATCHED = "kube patchEtcdMember c3 uid-etcdmember-c3 leave=true";
/** Enough for anything a test does, and long before what a test must not wait for. */
const soon = (): Deadline => Deadline.after(5000);
const now = (): Deadline => Deadline.after(0);

/** k0s does what it is asked: the member goes when its object is patched. */
function obeying(): Scene {
    const world: Scene = scene({
        kube: { patchEtcdMember: async () => void (world.etcd.members = without(world, memberId("c3"))) },
    });
    return world;
}

const without = ({ etcd }: Scene, id: bigint): Scene["etcd"]["members"] => etcd.members.filter((one) => one.id !== id);

/** What changed anything. */
const writes = ({ calls }: Scene): string[] => only(calls, "etcd removeMember", "kube patch", "kube delete");

const somebodyJoined = (world: Scene): void => {
    world.etcd.members = [...world.etcd.members, listed(member("c4"))];
};

const calls = {
    "leave by spec": (world: Scene) => leaveBySpec(world.operation, c3, object, soon()),
    "leave by ID": (world: Scene) => leaveById(world.operation, c3, object, soon()),
    "removal of an unstarted member": (world: Scene) => removeUnstarted(world.operation, c3, soon()),
};

for (const [name, act] of Object.entries(calls)) {
    describe(`a ${name}`, () => {
        it("changes nothing when the members are not those of the decision any more", async () => {
            const world = scene();
            somebodyJoined(world);
            await assert.rejects(act(world), (error: Error) => {
                assert.ok(error instanceof RefusedError);
                assert.match(error.message, /f01, f02, f03 then, f01, f02, f03, f04 now/);
                return true;
            });
            assert.deepEqual(writes(world), []);
        });

        it("changes nothing without the lock", async () => {
            const world = scene();
            world.loseLock();
            await assert.rejects(act(world), LockError);
            assert.deepEqual(writes(world), []);
        });
    });
}

describe("leaving by spec", () => {
    it("has ended when etcd does not list the member any more", async () => {
        const world = obeying();
        assert.equal(await leaveBySpec(world.operation, c3, object, soon()), "member f03 left");
        assert.deepEqual(writes(world), [PATCHED]);
    });

    it("says on the object which member was asked to leave by which operation", async () => {
        const world = scene({ etcd: { removeMember: async () => "not-found" } });
        await assert.rejects(leaveBySpec(world.operation, c3, object, now()), TimeoutError);
        const { annotations, leave } = world.kube.etcdMembers.find(({ name }) => name === "c3") as EtcdMemberObject;
        assert.equal(leave, true);
        assert.deepEqual(annotations, { "pulumi-mke/leave-member-id": "f03", "pulumi-mke/operation": "operation-1" });
    });

    it("is finished by ID when k0s took it back", async () => {
        const revoking: SceneOptions = { kube: { patchEtcdMember: async () => undefined } };
        const world = scene(revoking);
        const outcome = await leaveBySpec(world.operation, c3, object, soon());
        assert.equal(outcome, "member f03 removed by ID, because its own leave was revoked");
        assert.deepEqual(writes(world), [PATCHED, REMOVED]);
        assert.deepEqual(without(world, memberId("c3")), world.etcd.members);
    });

    it("is finished by ID when nothing comes of it", async () => {
        const world = scene();
        const outcome = await leaveBySpec(world.operation, c3, object, Deadline.after(20));
        assert.equal(outcome, "member f03 removed by ID, because its own leave was stuck");
        assert.deepEqual(writes(world), [PATCHED, REMOVED]);
    });

    it("has not ended because the object is gone, which proves nothing", async () => {
        const world: Scene = scene({ kube: { patchEtcdMember: async () => void (world.kube.etcdMembers = []) } });
        const outcome = await leaveBySpec(world.operation, c3, object, Deadline.after(20));
        assert.equal(outcome, "member f03 removed by ID, because its own leave was stuck");
    });

    it("goes by the member ID of the object: an older object of that name was not revoked", async () => {
        const older = etcdMember("c3", { memberId: 0xbadn });
        const world: Scene = scene({ kube: { patchEtcdMember: async () => undefined } });
        world.kube.etcdMembers = [older];
        const outcome = await leaveBySpec(world.operation, c3, older, Deadline.after(20));
        assert.equal(outcome, "member f03 removed by ID, because its own leave was stuck");
    });

    it("removes nothing by ID when somebody joined meanwhile", async () => {
        const world: Scene = scene({ kube: { patchEtcdMember: async () => somebodyJoined(world) } });
        await assert.rejects(leaveBySpec(world.operation, c3, object, Deadline.after(20)), RefusedError);
        assert.deepEqual(writes(world), [PATCHED]);
    });

    it("removes nothing by ID when the lock was lost meanwhile", async () => {
        const world: Scene = scene({ kube: { patchEtcdMember: async () => world.loseLock() } });
        await assert.rejects(leaveBySpec(world.operation, c3, object, Deadline.after(20)), LockError);
        assert.deepEqual(writes(world), [PATCHED]);
    });
});

describe("leaving by ID", () => {
    it("says on the object whose removal it is, and takes the member out of etcd before k0s hears of it", async () => {
        const world = scene();
        assert.equal(await leaveById(world.operation, c3, object, soon()), "member f03 removed by ID");
        assert.deepEqual(writes(world), [ANNOTATED, REMOVED, PATCHED]);
    });

    it("leaves behind, where it is killed in between, whose removal it was", async () => {
        const world: Scene = scene({ etcd: { removeMember: () => Promise.reject(new Error("killed")) } });
        await assert.rejects(leaveById(world.operation, c3, object, soon()), /killed/);
        const { annotations, leave } = world.kube.etcdMembers.find(({ name }) => name === "c3") as EtcdMemberObject;
        assert.equal(leave, false);
        assert.deepEqual(annotations, { "pulumi-mke/leave-member-id": "f03", "pulumi-mke/operation": "operation-1" });
    });

    it("asks no object that does not exist", async () => {
        const world = scene();
        await leaveById(world.operation, c3, undefined, soon());
        assert.deepEqual(writes(world), [REMOVED]);
    });

    const passing = new ApiError({ stage: "asking", what: "unhealthy cluster", code: 500, retryable: true });

    it("tries again while etcd says `not now`, and never believes less than the list", async () => {
        let tries = 0;
        const world: Scene = scene({
            etcd: {
                removeMember: async () => {
                    tries += 1;
                    if (tries === 1) throw passing;
                    if (tries === 3) world.etcd.members = without(world, memberId("c3"));
                    return "removed";
                },
            },
        });
        await leaveById(world.operation, c3, object, soon());
        assert.equal(tries, 3);
    });

    it("asks etcd again only while it holds the lock and the members are those of the decision", async () => {
        for (const [change, failure] of [
            [(world: Scene) => world.loseLock(), LockError],
            [somebodyJoined, RefusedError],
        ] as const) {
            const world: Scene = scene({
                etcd: {
                    removeMember: async () => {
                        change(world);
                        throw passing;
                    },
                },
            });
            await assert.rejects(leaveById(world.operation, c3, object, soon()), failure);
            assert.deepEqual(writes(world), [ANNOTATED, REMOVED]);
        }
    });

    it("believes the list where the answer to a removal that was done got lost", async () => {
        const world: Scene = scene({
            etcd: {
                removeMember: async () => {
                    world.etcd.members = without(world, memberId("c3"));
                    throw passing;
                },
            },
        });
        await leaveById(world.operation, c3, object, soon());
        assert.deepEqual(writes(world), [ANNOTATED, REMOVED, PATCHED]);
    });

    it("asks nobody's k0s to leave once the lock is lost: the host may have joined again meanwhile", async () => {
        const world: Scene = scene({
            kube: {
                patchEtcdMember: async (_name, _uid, { leave }) => {
                    if (leave !== true) return;
                    world.loseLock();
                    throw passing;
                },
            },
        });
        await assert.rejects(leaveById(world.operation, c3, object, soon()), LockError);
        assert.deepEqual(writes(world), [ANNOTATED, REMOVED, PATCHED]);
    });

    it("tells k0s once the API answers again", async () => {
        let tries = 0;
        const world = scene({
            kube: {
                patchEtcdMember: async (_name, _uid, { leave }) => {
                    tries += leave === true ? 1 : 0;
                    if (leave === true && tries === 1) throw passing;
                },
            },
        });
        await leaveById(world.operation, c3, object, soon());
        assert.deepEqual(writes(world), [ANNOTATED, REMOVED, PATCHED, PATCHED]);
    });

    it("fails while etcd lists the member", async () => {
        const world = scene({ etcd: { removeMember: async () => "removed" } });
        await assert.rejects(leaveById(world.operation, c3, object, now()), /last seen: etcd still lists the member/);
        assert.deepEqual(writes(world), [ANNOTATED, REMOVED]);
    });
});

describe("waiting for a leave that was asked for before", () => {
    it("changes nothing, and ends when etcd does not list the member", async () => {
        const world = scene({ cluster: cluster({}, ["c1", "c2"]) });
        await waitUntilLeft(world.operation, c3, soon());
        assert.deepEqual(world.calls, ["etcd members"]);
    });

    it("fails with the member's ID and the section of the runbook", async () => {
        const waiting = waitUntilLeft(scene().operation, c3, now());
        await assert.rejects(waiting, /last seen: member f03 is still in etcd\nRunbook: .*#leave-in-progress/);
    });
});

describe("the proof that a member left", () => {
    it("refuses the reset of a host whose ID is in etcd", async () => {
        await assert.rejects(proveLeft(scene().operation, memberId("c3")), (error: Error) => {
            assert.ok(error instanceof RefusedError);
            assert.match(error.message, /^resetting on 10\.0\.0\.3: member f03 is still in etcd/);
            return true;
        });
    });

    it("goes by the ID alone, and not by name or address", async () => {
        await proveLeft(scene().operation, 0xbadn);
    });
});

describe("moving etcd leadership", () => {
    const move = async (
        world: Scene,
        deadline = soon(),
        own: Parameters<typeof ownServers>[1] = {},
    ): Promise<unknown> => {
        const restore = ownServers(world, own);
        try {
            return await moveLeadership(world.operation, world.operation.target, c3, deadline);
        } finally {
            restore();
        }
    };

    it("does nothing where the target does not lead", async () => {
        const world = scene();
        assert.deepEqual(await move(world), nothingToDo("the target is not the leader"));
        assert.deepEqual(world.calls, ["etcd status"]);
    });

    const leading = cluster({ leaderId: memberId("c3") });

    it("is asked of the leader itself, in favour of the helper, and closes its connection", async () => {
        const world = scene({ cluster: leading });
        assert.equal(await move(world), "10.0.0.1 leads now");
        assert.deepEqual(world.calls, ["etcd status", "etcd of c3 moveLeader f01", "etcd of c3 close", "etcd status"]);
    });

    it("closes its connection also when etcd refuses", async () => {
        const world = scene({ cluster: leading });
        const refusing = move(world, soon(), { moveLeader: () => Promise.reject(new Error("no")) });
        await assert.rejects(refusing, /^Error: no$/);
        assert.equal(world.calls.at(-1), "etcd of c3 close");
    });

    it("is not over while the target leads, nor while nobody does", async () => {
        for (const leaderId of [memberId("c3"), undefined]) {
            const world: Scene = scene({ cluster: leading });
            const moving = move(world, now(), { moveLeader: async () => void (world.etcd.leaderId = leaderId) });
            await assert.rejects(moving, /it is still the leader/);
        }
    });
});
