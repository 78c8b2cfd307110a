import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { LEAVE_ANNOTATION, type Verdict, verdictFor } from "../../provider/decide/etcd-verdict";
import type { EtcdMemberObject, Member } from "../../provider/facts/cluster";
import { address, cluster, etcdMember, member, memberId } from "./build";

const subject = { addresses: [address("c3")], nodeName: "c3" };
const asked = { [LEAVE_ANNOTATION]: "f03" };

function verdict(members: readonly Member[], objects: readonly EtcdMemberObject[], change: object = {}) {
    const others = cluster({}, ["c1", "c2"]);
    return verdictFor(
        { ...subject, ...change },
        { ...others, members: [...others.members, ...members], etcdMembers: [...others.etcdMembers, ...objects] },
    );
}

type Case = readonly [
    what: string,
    members: readonly Member[],
    objects: readonly EtcdMemberObject[],
    verdict: Verdict,
    passing?: boolean,
];

const voter = [member("c3")];
const unwritten = { joined: undefined, memberId: undefined, peerAddress: undefined } as const;

const CASES: readonly Case[] = [
    ["a voter and its object agree", voter, [etcdMember("c3")], "VerdictHealthy"],
    ["a voter's object has no status", voter, [etcdMember("c3", unwritten)], "VerdictCRStatusNeverWritten", true],
    [
        "a voter's object says Joined=Unknown",
        voter,
        [etcdMember("c3", { joined: "Unknown" })],
        "VerdictCRStatusNeverWritten",
        true,
    ],
    ["a voter was asked to leave", voter, [etcdMember("c3", { leave: true })], "VerdictLeaveRequested"],
    ["a voter's object says it left", voter, [etcdMember("c3", { joined: "False" })], "VerdictCRStatusStale", true],
    [
        "a voter's object still has the old ID",
        voter,
        [etcdMember("c3", { memberId: 0xbadn, leave: true, joined: "False" })],
        "VerdictCRStatusStale",
        true,
    ],
    ["a voter has no object", voter, [], "VerdictHazardCRMissing", true],
    ["a learner has no object yet", [member("c3", { learner: true })], [], "VerdictHazardCRMissing", true],
    ["an unstarted member has no object", [member("c3", { name: "" })], [], "VerdictHazardCRMissing", true],
    ["a learner's object says joined", [member("c3", { learner: true })], [etcdMember("c3")], "VerdictUnknown", true],
    ["there is no trace", [], [], "VerdictClean"],
    [
        "our leave is done, its object not updated",
        [],
        [etcdMember("c3", { leave: true, annotations: asked })],
        "VerdictLeftCRNotUpdated",
    ],
    [
        "our leave is done and recorded",
        [],
        [etcdMember("c3", { leave: true, joined: "False", annotations: asked })],
        "VerdictMemberLeftCRNeedsCleanup",
    ],
    [
        "our leave's flag was cleared afterwards",
        [],
        [etcdMember("c3", { joined: "False", annotations: asked })],
        "VerdictCorruptedRemoval",
    ],
    [
        "our leave was wiped and the status never followed",
        [],
        [etcdMember("c3", { annotations: asked })],
        "VerdictCorruptedRemoval",
    ],
    ["somebody else's leave has no status yet", [], [etcdMember("c3", { leave: true })], "VerdictCorruptedRemoval"],
    ["it was removed from outside", [], [etcdMember("c3")], "VerdictOOBRemovalStaleCR"],
    [
        "it was removed from outside, and k0s noticed",
        [],
        [etcdMember("c3", { joined: "False" })],
        "VerdictOOBRemovalStaleCR",
    ],
    [
        "somebody set spec.leave by hand",
        [],
        [etcdMember("c3", { leave: true, joined: "False" })],
        "VerdictOOBRemovalStaleCR",
    ],
    [
        "the leave we asked for was another member's",
        [],
        [etcdMember("c3", { leave: true, joined: "False", annotations: { [LEAVE_ANNOTATION]: "f02" } })],
        "VerdictOOBRemovalStaleCR",
    ],
    [
        "the annotation is no member ID",
        [],
        [etcdMember("c3", { leave: true, joined: "False", annotations: { [LEAVE_ANNOTATION]: "0x" } })],
        "VerdictOOBRemovalStaleCR",
    ],
    ["an object without member has no status", [], [etcdMember("c3", unwritten)], "VerdictCRStatusNeverWritten", true],
    [
        "two members have its address",
        [member("c3"), member("c3", { id: 7n, name: "" })],
        [etcdMember("c3")],
        "VerdictHazardCRMissing",
        true,
    ],
    [
        "two members have its address, and each its object",
        [member("c3"), member("c3", { id: 7n })],
        [etcdMember("c3"), etcdMember("c3-old", { memberId: 7n, peerAddress: address("c3") })],
        "VerdictUnknown",
    ],
    [
        "two objects have its address, one of a member that is no more",
        voter,
        [etcdMember("c3"), etcdMember("c3-old", { memberId: 9n, peerAddress: address("c3") })],
        "VerdictOOBRemovalStaleCR",
    ],
    [
        "an old object of its address says properly that its member left",
        voter,
        [
            etcdMember("c3"),
            etcdMember("c3-old", {
                memberId: 9n,
                peerAddress: address("c3"),
                leave: true,
                joined: "False",
                annotations: { [LEAVE_ANNOTATION]: "9" },
            }),
        ],
        "VerdictUnknown",
    ],
    [
        "two objects have its member ID",
        voter,
        [etcdMember("c3"), etcdMember("c3-old", { peerAddress: "10.9.9.9" })],
        "VerdictUnknown",
    ],
    [
        "an object of its name belongs to another address",
        [],
        [etcdMember("c3", { peerAddress: "10.9.9.9", memberId: 9n })],
        "VerdictClean",
    ],
];

describe("etcd verdicts", () => {
    for (const [what, members, objects, expected, passing] of CASES) {
        it(`answers ${expected}${passing ? " (passing)" : ""} where ${what}`, () => {
            const report = verdict(members, objects);
            assert.equal(report.verdict, expected);
            assert.equal(report.passing ?? false, passing ?? false);
        });
    }

    it("compares IDs as numbers, leading zeros or not", () => {
        const objects = [
            etcdMember("c3", { leave: true, joined: "False", annotations: { [LEAVE_ANNOTATION]: "0F03" } }),
        ];
        assert.equal(verdict([], objects).verdict, "VerdictMemberLeftCRNeedsCleanup");
    });

    it("does not take the member that state knows for this node's when it is at another address", () => {
        const report = verdict([member("c3", { peerHosts: ["10.9.9.9"] })], [], { memberId: memberId("c3") });
        assert.equal(report.verdict, "VerdictUnknown");
    });

    it("finds a member by any address of the machine, however it is written", () => {
        const report = verdictFor(
            { addresses: ["192.0.2.1", "2001:DB8:0:0::3"], nodeName: "c3" },
            cluster({
                members: [member("c3", { peerHosts: ["2001:db8::3"] })],
                etcdMembers: [etcdMember("c3", { peerAddress: "2001:db8::3" })],
            }),
        );
        assert.equal(report.verdict, "VerdictHealthy");
        assert.equal(report.member?.id, memberId("c3"));
        assert.equal(report.object?.name, "c3");
    });

    it("says what it saw, with addresses and IDs", () => {
        assert.deepEqual(verdict([member("c3")], [etcdMember("c3", { leave: true, annotations: asked })]).evidence, [
            "etcd lists a voter c3 at 10.0.0.3 (f03)",
            "EtcdMember c3 has member ID f03 at 10.0.0.3, Joined=True, leave asked for, annotated as left with f03",
        ]);
    });
});
