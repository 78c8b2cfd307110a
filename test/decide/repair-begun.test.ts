import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { repairFor, type RepairSituation } from "../../provider/decide/repair";
import type { ClusterFacts } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import { blankHost, etcdMember, marker, member, memberId, record, stopped, TOKEN } from "./build";
import { annotated, c3, others, situation } from "./repair-situation";

/** Its kubelet has ended long ago. */
const ended = { nodes: [...others, annotated("c3", { ready: false })], heartbeats: {} };
const withoutC3 = { members: [member("c1"), member("c2")] };
const dead = { ...ended, members: [...withoutC3.members, member("c3", { health: "unhealthy" })] };
const askedToLeave = { etcdMembers: [etcdMember("c1"), etcdMember("c2"), etcdMember("c3", { leave: true })] };

describe("repair of a machine that was replaced", () => {
    const replaced = (host: HostFacts, change: Partial<ClusterFacts> = {}): RepairSituation => ({
        ...situation("c3", { ...host, machineId: "machine-new" }, change),
        state: { token: TOKEN, machineId: "machine-c3", memberId: memberId("c3") },
    });

    it("is a rebuild where the new one is blank and the old one can be removed", () => {
        assert.equal(repairFor(replaced(blankHost("c3"), dead)).action, "rebuild");
        assert.equal(repairFor(replaced(blankHost("c3"), { ...ended, ...withoutC3 })).topic, "removed-out-of-band");
    });

    it("is a rebuild too where our own record explains what is left of the old one", () => {
        const left = record("rebuild", { removing: "f03" });
        const repair = repairFor({ ...replaced(blankHost("c3"), { ...ended, ...withoutC3 }), record: left });
        assert.equal(repair.action, "rebuild");
    });

    it("fails where something is on the new one", () => {
        assert.equal(repairFor(replaced(c3)).action, "fail");
    });

    it("goes on where our own rebuild has claimed the new one", () => {
        const claimed = marker("c3", "controller", { machineId: "machine-new" });
        const done = repairFor(replaced({ ...c3, marker: claimed }));
        assert.deepEqual([done.action, done.drift.length], ["reclaim", 1]);
        const begun = repairFor(replaced({ ...c3, marker: { ...claimed, operation: record("add") } }));
        assert.equal(begun.action, "finish");
    });
});

describe("repair after an operation of ours that did not end", () => {
    const marked = (host: HostFacts, kind: "add" | "remove" | "rebuild"): HostFacts => ({
        ...host,
        marker: marker("c3", "controller", { operation: record(kind, { removing: "f03" }) }),
    });

    it("finishes a join, whatever the table says of the state", () => {
        for (const host of [c3, stopped(c3)]) {
            assert.equal(repairFor(situation("c3", marked(host, "add"), {})).action, "finish");
        }
    });

    it("forgets a removal that has changed nothing yet", () => {
        const repair = repairFor(situation("c3", marked(c3, "remove"), {}));
        assert.deepEqual(repair.drift, ["an earlier operation of ours on it (remove) was interrupted"]);
        assert.equal(repair.action, "reclaim");
    });

    it("finishes a removal that cannot be taken back, and adds the node again", () => {
        assert.equal(repairFor(situation("c3", marked(c3, "remove"), askedToLeave)).action, "rebuild");
        assert.equal(repairFor(situation("c3", marked(c3, "rebuild"), withoutC3)).action, "rebuild");
    });
});
