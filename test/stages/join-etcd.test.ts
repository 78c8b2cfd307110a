import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { CommandError, RefusedError, TimeoutError } from "../../provider/errors";
import { waitForVoter } from "../../provider/stages/join-etcd";
import { cluster, member, memberId } from "../decide/build";
import { listed } from "../support/fake-etcd";
import { type SceneOptions, type Scene, scene } from "../support/fake-operation";

const two = cluster({}, ["c1", "c2"]);
const others = two.members.map(({ id }) => id);

/** c3 joins c1 and c2; `joiner` is what etcd lists at its address. */
function joining(joiner: Parameters<typeof listed>[1] | undefined, options: SceneOptions = {}): Scene {
    const world = scene({ cluster: two, ...options });
    if (joiner !== undefined) world.etcd.members = [...world.etcd.members, listed(member("c3"), joiner)];
    return world;
}

const wait = ({ operation }: Scene, milliseconds = 0, known = others): Promise<bigint> =>
    waitForVoter(operation, known, Deadline.after(milliseconds));

const lastSeen = (what: string) => (error: Error) => {
    assert.ok(error instanceof TimeoutError, String(error));
    assert.ok(error.message.includes(`last seen: ${what}`), error.message);
    return true;
};

describe("waiting for a voter", () => {
    it("answers the ID of the named voter at the new node's address", async () => {
        assert.equal(await wait(joining({})), memberId("c3"));
    });

    it("is not over with a member that has no name", async () => {
        await assert.rejects(wait(joining({ name: "" })), lastSeen("member f03 was added and never started"));
    });

    it("is not over with a learner", async () => {
        await assert.rejects(wait(joining({ learner: true })), lastSeen("member f03 is a learner"));
    });

    it("notes which member joins as soon as it is seen, and no other", async () => {
        for (const [joiner, noted] of [
            [{ name: "" }, memberId("c3")],
            [{ peerUrls: ["https://10.0.0.33:2380"] }, undefined],
        ] as const) {
            const world = joining(joiner);
            await assert.rejects(wait(world), TimeoutError);
            assert.equal(world.operation.progress.memberId, noted);
        }
    });

    it("is not over with a voter of that name at another address", async () => {
        const elsewhere = joining({ peerUrls: ["https://10.0.0.33:2380"] });
        await assert.rejects(wait(elsewhere), lastSeen("no member at its address yet"));
    });

    it("does not count a member that was there before, at whatever address", async () => {
        const known = [...others, memberId("c3")];
        await assert.rejects(wait(joining({}), 0, known), lastSeen("no member at its address yet"));
    });

    it("finds the address in brackets", async () => {
        const world = joining({ peerUrls: ["https://[2001:db8::3]:2380"] });
        const operation = { ...world.operation, peerAddress: "2001:db8::3" };
        assert.equal(await wait({ ...world, operation }), memberId("c3"));
    });

    it("goes on until the learner is promoted", async () => {
        const world: Scene = joining(
            { learner: true },
            {
                target: {
                    serviceState: async () => {
                        world.etcd.members = [...two.members, member("c3")].map((one) => listed(one));
                        return { active: "active", sub: "running", restarts: 0 };
                    },
                },
            },
        );
        assert.equal(await wait(world, 60_000), memberId("c3"));
    });
});

describe("a join that cannot succeed", () => {
    const journal = async (): Promise<string> => "Rejected: cgroup v1 is not supported";
    const states = {
        "whose service failed": { active: "failed", sub: "failed", restarts: 0 },
        "whose service was restarted twice": { active: "activating", sub: "auto-restart", restarts: 2 },
    };
    for (const [which, state] of Object.entries(states)) {
        it(`${which} ends at once, with the journal`, async () => {
            const world = joining({ name: "" }, { target: { serviceState: async () => state, journal } });
            await assert.rejects(wait(world, 60_000), (error: Error) => {
                assert.ok(error instanceof CommandError && !error.retryable);
                assert.match(
                    error.message,
                    /k0s does not stay up \((failed|activating), \d restarts\)\n {2}Rejected: cgroup v1/,
                );
                return true;
            });
        });
    }

    it("is not given up after one restart", async () => {
        const state = { active: "activating", sub: "auto-restart", restarts: 1 };
        const world = joining(undefined, { target: { serviceState: async () => state, journal } });
        await assert.rejects(wait(world), TimeoutError);
    });

    for (const line of ["etcdserver: Peer URLs already exists", "membership: member ID already exist"]) {
        it(`is refused when an older member has the address and k0s logs "${line}"`, async () => {
            const world = joining({}, { target: { journal: async () => `one\n${line}\ntwo` } });
            await assert.rejects(wait(world, 60_000, [...others, memberId("c3")]), (error: Error) => {
                assert.ok(error instanceof RefusedError);
                assert.equal(error.topic, "member-on-wiped-host");
                assert.match(error.message, /an older member at 10\.0\.0\.3/);
                return true;
            });
        });
    }

    it("does not believe the journal of an earlier attempt when no older member has the address", async () => {
        for (const joiner of [undefined, { learner: true }]) {
            const world = joining(joiner, { target: { journal: async () => "Peer URLs already exists" } });
            await assert.rejects(wait(world), TimeoutError);
        }
    });
});
