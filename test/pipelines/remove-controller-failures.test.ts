import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { ConnectionError } from "../../provider/errors";
import { address, cluster, record } from "../decide/build";
import { only } from "../support/fake-calls";
import { listed } from "../support/fake-etcd";
import type { Scene } from "../support/fake-operation";
import { LEASE, leaving, NODE, OBJECT, removeC3 } from "./leaving";
import { LEFT_ALREADY } from "./scenes";

const HOST_GONE = ["c3 service", "c3 reset", "c3 cleanUp"];

describe("a controller's removal that goes wrong", () => {
    it("touches neither etcd nor the host when the members changed since the decision", async () => {
        const world: Scene = leaving({
            kube: {
                setUnschedulable: async () =>
                    void (world.etcd.members = world.etcd.members.filter(({ name }) => name !== "c2")),
            },
        });
        await assert.rejects(removeC3(world), /the etcd members changed since the decision/);
        assert.deepEqual(only(world.calls, "kube patch", "etcd removeMember", "kube delete", ...HOST_GONE), []);
    });

    it("touches neither etcd nor the host when another controller died during the drain", async () => {
        for (const howToLeave of ["spec-leave", "member-remove"] as const) {
            let alive = true;
            const world = leaving({
                kube: { setUnschedulable: async () => void (alive = false) },
                others: { isReady: async () => alive },
            });
            await assert.rejects(removeC3(world, { howToLeave }), { name: "RefusedError", topic: "quorum" });
            assert.deepEqual(only(world.calls, "kube patch", "etcd removeMember", "kube delete", ...HOST_GONE), []);
        }
    });

    it("leaves nothing to k0s that etcd could not commit any more if it stopped first, because another one died meanwhile", async () => {
        const names = ["c1", "c2", "c3", "c4"];
        for (const howToLeave of ["spec-leave", "member-remove"] as const) {
            let alive = true;
            const { timeouts } = leaving().operation.inputs;
            const world = leaving({
                cluster: cluster({}, names),
                inputs: { timeouts: { ...timeouts, api: 0 } },
                kube: { setUnschedulable: async () => void (alive = false) },
                others: (at) => ({ isReady: async () => alive || at !== address("c4") }),
            });
            const bySpec = howToLeave === "spec-leave";
            const why = bySpec ? /etcd could not commit the removal if it stopped first/ : /verifying etcd on .*c4/;
            await assert.rejects(removeC3(world, { howToLeave }), why);
            assert.deepEqual(only(world.calls, "etcd removeMember"), bySpec ? [] : ["etcd removeMember f03"]);
            if (bySpec) assert.deepEqual(only(world.calls, "kube patch", ...HOST_GONE), []);
        }
    });

    it("touches neither etcd nor the host when the lock was lost", async () => {
        const world: Scene = leaving({ kube: { setUnschedulable: async () => world.loseLock() } });
        await assert.rejects(removeC3(world), { name: "LockError" });
        assert.deepEqual(only(world.calls, "kube patch", "etcd removeMember", "kube delete", ...HOST_GONE), []);
    });

    it("resets nothing when the lock was lost after the leave", async () => {
        const world: Scene = leaving({ kube: { deleteControlNode: async () => world.loseLock() } });
        await assert.rejects(removeC3(world), { name: "LockError" });
        assert.deepEqual(only(world.calls, "c3 reset", "c3 cleanUp"), []);
    });

    for (const [what, before, kept] of [
        ["no Node", "deleteEtcdMember", NODE],
        ["no lease of a controller", "deleteControlNode", LEASE],
    ] as const) {
        it(`deletes ${what} when the lock was lost just before`, async () => {
            const world: Scene = leaving({ kube: { [before]: async () => world.loseLock() } });
            await assert.rejects(removeC3(world), { name: "LockError" });
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
        await assert.rejects(removeC3(world), { name: "LockError" });
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
        await removeC3(world);
        assert.equal(away, false);
    });

    it("does not stop, delete or reset anything while the member is in etcd after all", async () => {
        let looks = 0;
        const listing = cluster().members.map((one) => listed(one));
        const world = leaving({
            etcd: {
                // gone when the leave is watched, and there again when it is proven
                members: async () => ({
                    clusterId: 0xabcn,
                    members: (looks += 1) === 3 ? listing.slice(0, 2) : listing,
                }),
            },
        });
        await assert.rejects(removeC3(world), /member f03 is still in etcd; resetting its host would leave a ghost/);
        assert.deepEqual(only(world.calls, "kube delete", ...HOST_GONE), []);
    });

    it("does not delete the object of a member that left for other reasons before k0s says so", async () => {
        const { timeouts } = leaving().operation.inputs;
        const options = { inputs: { timeouts: { ...timeouts, leave: 0, api: 0 } } };
        const waiting = { member: undefined, steps: { ...LEFT_ALREADY, leave: "wait-joined-false" as const } };
        const world = leaving(options);
        await assert.rejects(removeC3(world, waiting), { name: "TimeoutError" });
        assert.deepEqual(only(world.calls, "kube deleteEtcdMember", "c3 reset"), []);

        const ours = leaving(options);
        ours.etcd.members = ours.etcd.members.slice(0, 2);
        await assert.rejects(removeC3(ours, { ...waiting, resumes: record("remove") }), /verifying etcd/);
        assert.deepEqual(only(ours.calls, "kube deleteEtcdMember", "c3 reset"), [OBJECT, "c3 reset /var/lib/k0s"]);
    });

    it("fails in the end when a bystander is not healthy any more", async () => {
        const { timeouts } = leaving().operation.inputs;
        const world: Scene = leaving({
            inputs: { timeouts: { ...timeouts, api: 0 } },
            others: { isReady: async () => world.etcd.members.length === 3 },
        });
        await assert.rejects(removeC3(world), /verifying etcd on 10\.0\.0\.1: .*c2 .* is not healthy/);
    });
});
