import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type GoneSituation, isGone } from "../../provider/decide/gone";
import type { ClusterFacts } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import { address, blankHost, cluster, controlNode, etcdMember, member, memberId, NO_DATA, node, unit } from "./build";

/** c3 was here; c1 and c2 are left. */
const without = (change: Partial<ClusterFacts> = {}): ClusterFacts => {
    const facts = cluster({}, ["c1", "c2"]);
    return { ...facts, ...change };
};

const situation = (change: Partial<GoneSituation> = {}): GoneSituation => ({
    host: blankHost("c3"),
    cluster: without(),
    nodeName: "c3",
    peerAddress: address("c3"),
    state: { memberId: memberId("c3") },
    ...change,
});

describe("a node", () => {
    it("is gone when neither its host nor its cluster knows it", () => {
        assert.equal(isGone(situation()), true);
        assert.equal(isGone(situation({ state: {} })), true);
    });

    it("is not gone because its host does not answer", () => {
        assert.equal(isGone(situation({ host: undefined })), false);
    });

    const traces: Readonly<Record<string, Partial<HostFacts>>> = {
        "a controller's unit": { units: { controller: unit([]), worker: undefined } },
        "a worker's unit": { units: { controller: undefined, worker: unit([]) } },
        certificates: { data: { ...NO_DATA, pki: true } },
        "an etcd member's data": { data: { ...NO_DATA, etcdMember: true } },
        "a kubelet's configuration": { data: { ...NO_DATA, kubeletConf: true } },
    };
    for (const [trace, change] of Object.entries(traces)) {
        it(`is not gone while its host has ${trace}`, () => {
            assert.equal(isGone(situation({ host: blankHost("c3", change) })), false);
        });
    }

    const elsewhere = "10.9.9.9";
    const known: Readonly<Record<string, Partial<ClusterFacts>>> = {
        "etcd lists its member ID, at whatever address": { members: [member("c3", { peerHosts: [elsewhere] })] },
        "etcd lists a member at its address, of whatever ID": { members: [member("c3", { id: 1n })] },
        "an EtcdMember has its member ID": { etcdMembers: [etcdMember("c9", { memberId: memberId("c3") })] },
        "an EtcdMember has its address": { etcdMembers: [etcdMember("c3", { memberId: undefined })] },
        "a Node has its name": { nodes: [node("c3", { addresses: [elsewhere] })] },
        "a Node has its address": { nodes: [node("c9", { addresses: [address("c3")] })] },
        "a ControlNode has its address": { controlNodes: [controlNode("c3")] },
    };
    for (const [what, change] of Object.entries(known)) {
        it(`is not gone while ${what}`, () => {
            assert.equal(isGone(situation({ cluster: without(change) })), false);
        });
    }

    it("is known by every address of its machine", () => {
        const host = blankHost("c3", { addresses: ["192.0.2.3"] });
        const facts = without({ members: [member("c9", { peerHosts: ["192.0.2.3"] })] });
        assert.equal(isGone(situation({ host, cluster: facts })), false);
    });
});
