import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { planRemove, type RemovalSituation } from "../../provider/decide/plan";
import type { ClusterFacts, EtcdMemberObject, Member } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import { address, BINARY, blankHost, CA, cluster, controllerHost, etcdMember, marker, member, memberId } from "./build";
import { NO_DATA, node, record, stopped } from "./build";
import { leaving, refused, removed } from "./situations";

type HostState = readonly [scenario: number, host: HostFacts, nodes: ClusterFacts["nodes"]];

const OTHERS = [node("c1"), node("c2")];
const leftFiles = blankHost("c3", {
    ca: { pki: CA, kubelet: undefined, unreadable: false },
    data: { ...NO_DATA, exists: true, pki: true, etcdDatabase: true, etcdMember: true },
    marker: marker("c3", "controller"),
});

/** The scenarios in which the document takes a controller out of etcd, besides blank hosts. */
const HOSTS: readonly HostState[] = [
    [2, controllerHost("c3"), [...OTHERS, node("c3")]],
    [3, controllerHost("c3"), [...OTHERS, node("c3", { ready: false })]],
    [4, controllerHost("c3"), OTHERS],
    [6, stopped(controllerHost("c3")), [...OTHERS, node("c3", { ready: false })]],
    [7, stopped(controllerHost("c3")), OTHERS],
    [10, leftFiles, OTHERS],
    [0, blankHost("c3", { binary: BINARY, marker: marker("c3", "controller") }), OTHERS],
];

function situation(
    [, host, nodes]: HostState,
    members: readonly Member[],
    objects: readonly EtcdMemberObject[] = [etcdMember("c3")],
    change: Partial<RemovalSituation> = {},
): RemovalSituation {
    const others = [member("c1"), member("c2")];
    const etcdMembers = [etcdMember("c1"), etcdMember("c2"), ...objects];
    return leaving({ host, cluster: cluster({ members: [...others, ...members], etcdMembers, nodes }), ...change });
}

const learner = member("c3", { learner: true });
const unnamed = member("c3", { name: "", learner: true, health: "unhealthy" });
const again = member("c3", { id: 7n });

describe("removing a controller by its member", () => {
    for (const state of HOSTS) {
        const [scenario] = state;
        const answers = scenario >= 2 && scenario <= 4;

        it(`scenario ${scenario}: an alive one leaves ${answers ? "by itself" : "by ID"}`, () => {
            const plan = removed(situation(state, [member("c3")]));
            assert.equal(plan.scenario, scenario);
            assert.deepEqual([plan.steps.leave, plan.member?.id], ["leave", memberId("c3")]);
            assert.equal(plan.howToLeave, answers ? "spec-leave" : "member-remove");
        });

        it(`scenario ${scenario}: a dead one is removed by ID, where the others have a majority`, () => {
            const dead = situation(state, [member("c3", { health: "unhealthy" })]);
            const plan = removed(dead);
            assert.deepEqual([plan.steps.leave, plan.howToLeave], ["leave", "member-remove"]);
            const members = [
                member("c1"),
                member("c2", { health: "unhealthy" }),
                member("c3", { health: "unhealthy" }),
            ];
            const lost = { ...dead, cluster: { ...dead.cluster, members } };
            assert.equal(refused(planRemove(lost)).topic, "quorum");
        });

        it(`scenario ${scenario}: a learner or an unstarted member is refused, unless our own join explains it`, () => {
            for (const one of [learner, unnamed]) {
                const refusal = refused(planRemove(situation(state, [one], [])));
                assert.equal(refusal.topic, "member-without-cr");
                assert.equal(refusal.lookAgain, true);
                assert.match(refusal.what, new RegExp(`scenario ${scenario} .*VerdictHazardCRMissing: report, fail`));
                const ours = situation(state, [one], [], { record: record("add", { baseline: ["f01", "f02"] }) });
                const plan = removed(ours);
                assert.deepEqual(
                    [plan.steps.leave, plan.howToLeave, plan.member?.id],
                    ["leave", "member-remove", one.id],
                );
            }
        });

        it(`scenario ${scenario}: two members at its address are refused, whatever they are`, () => {
            for (const other of [again, { ...unnamed, id: 7n }, { ...learner, id: 7n }]) {
                const refusal = refused(planRemove(situation(state, [member("c3"), other])));
                assert.equal(refusal.topic, "ghost-member");
                assert.ok(refusal.evidence.some((line) => line.includes("(7)")));
                assert.ok(refusal.evidence.some((line) => line.includes("(f03)")));
            }
        });

        it(`scenario ${scenario}: the member in state at another address is not taken for it`, () => {
            const moved = member("c3", { peerHosts: ["10.9.9.9"] });
            const refusal = refused(
                planRemove(situation(state, [moved], [etcdMember("c3", { peerAddress: "10.9.9.9" })])),
            );
            assert.match(refusal.what, /VerdictUnknown/);
        });

        it(`scenario ${scenario}: a newer member at its address is not the one in state, but the one that is there`, () => {
            const plan = removed(situation(state, [again], [etcdMember("c3", { memberId: 7n })]));
            assert.equal(plan.member?.id, 7n);
            assert.ok(plan.verdict?.evidence.some((line) => line.includes("not f03 as in state")));
        });
    }

    it("compares addresses, not how they are written", () => {
        const host = controllerHost("c3", { address: "2001:db8:0::3", addresses: ["2001:db8:0:0::3"] });
        const peerHosts = ["2001:DB8::3"];
        const facts = cluster({
            members: [member("c1"), member("c2"), member("c3", { id: 7n, peerHosts })],
            etcdMembers: [
                etcdMember("c1"),
                etcdMember("c2"),
                etcdMember("c3", { memberId: 7n, peerAddress: "2001:db8::0:3" }),
            ],
            nodes: [...OTHERS, node("c3", { addresses: peerHosts })],
        });
        assert.equal(removed(leaving({ host, cluster: facts, peerAddress: address("c3") })).member?.id, 7n);
    });
});
