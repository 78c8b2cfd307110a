import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { ApiError, RefusedError } from "../../provider/errors";
import { verifyEtcdCluster, waitForApi, waitForEtcdMemberObject } from "../../provider/stages/verify-controller";
import { etcdMember, memberId } from "../decide/build";
import { type OwnServers, ownServers, type Scene, scene } from "../support/fake-operation";

let restore = (): void => undefined;
afterEach(() => restore());

/** c3 has just joined; `own` is what its own servers say. */
function joined(own: OwnServers = {}): Scene {
    const world = scene();
    restore = ownServers(world, own);
    return world;
}

const soon = (): Deadline => Deadline.after(5000);
const id = memberId("c3");
const secondCluster = (words: RegExp) => (error: Error) => {
    assert.ok(error instanceof RefusedError);
    assert.equal(error.topic, "second-cluster");
    assert.match(error.message, words);
    return true;
};

describe("the new controller's own etcd", () => {
    const verify = ({ operation }: Scene): Promise<unknown> => verifyEtcdCluster(operation, id, soon());

    it("serves the helper's cluster as the member that was seen to join", async () => {
        const world = joined();
        assert.equal(await verify(world), "member f03");
        assert.deepEqual(world.calls, ["etcd of c3 status", "etcd of c3 close"]);
    });

    it("must not serve another cluster", async () => {
        const world = joined({ clusterId: 0xbadn });
        await assert.rejects(
            verify(world),
            secondCluster(/member f03 of cluster bad, but 10\.0\.0\.1 has member f03 of abc/),
        );
        assert.equal(world.calls.at(-1), "etcd of c3 close");
    });

    it("must not be another member", async () => {
        await assert.rejects(
            verify(joined({ memberId: 0xf09n })),
            secondCluster(/its etcd is member f09 of cluster abc/),
        );
    });

    it("is waited for while it starts", async () => {
        let asked = 0;
        const starting = new ApiError({ stage: "asking", what: "starting", retryable: true });
        const status = async (): Promise<never> => {
            asked += 1;
            if (asked === 1) throw starting;
            return { memberId: id, clusterId: 0xabcn, leaderId: 1n, learner: false, version: "3.6" } as never;
        };
        assert.equal(await verify(joined({ etcd: { status } })), "member f03");
        assert.equal(asked, 2);
    });
});

describe("the new controller's own API server", () => {
    const wait = ({ operation }: Scene, deadline = soon()): Promise<unknown> => waitForApi(operation, deadline);

    it("is ready and shows the helper's cluster", async () => {
        await wait(joined());
    });

    it("must not show another cluster", async () => {
        await assert.rejects(
            wait(joined({ kube: { clusterId: async () => "another" } })),
            secondCluster(/shows cluster another/),
        );
    });

    it("is closed in the end, whatever came of it", async () => {
        let closed = 0;
        const close = (): void => void (closed += 1);
        await wait(joined({ kube: { close } }));
        restore();
        const isReady = async (): Promise<boolean> => false;
        await assert.rejects(
            wait(joined({ kube: { close, isReady } }), Deadline.after(0)),
            /last seen: \/readyz is not ok/,
        );
        assert.equal(closed, 2);
    });
});

describe("waiting for the EtcdMember", () => {
    const wait = ({ operation }: Scene): Promise<unknown> => waitForEtcdMemberObject(operation, id, Deadline.after(0));

    it("ends when k0s says of this member ID that it joined", async () => {
        assert.equal(await wait(scene()), "c3");
    });

    it("does not end with the object of an older member of that name", async () => {
        const world = scene();
        world.kube.etcdMembers = [etcdMember("c3", { memberId: 0xbadn })];
        await assert.rejects(wait(world), /last seen: no EtcdMember with member ID f03/);
    });

    for (const joinedState of ["False", "Unknown", undefined] as const) {
        it(`does not end while its status is ${joinedState ?? "not written"}`, async () => {
            const world = scene();
            world.kube.etcdMembers = [etcdMember("c3", { joined: joinedState })];
            await assert.rejects(wait(world), new RegExp(`EtcdMember c3 says Joined=${joinedState ?? "nothing"}`));
        });
    }
});
