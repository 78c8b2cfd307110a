import assert from "node:assert/strict";
import { describe, it } from "mocha";
import {
    microTime,
    parseControlNode,
    parseEtcdMember,
    parseLease,
    parseNode,
    parsePod,
    type RawObject,
} from "../../../provider/adapters/kube/parse";
import { fixture } from "../../support/fixtures";

type Recorded = RawObject & { readonly kind: string };

const { items } = fixture("objects-3-controllers-1-worker.json") as { readonly items: readonly Recorded[] };
const recorded = (kind: string, name: string): RawObject => {
    const found = items.find((item) => item.kind === kind && item.metadata?.name === name);
    assert.ok(found, `${kind} ${name} is recorded`);
    return found;
};

describe("parsing Kubernetes objects", () => {
    it("reads a joined EtcdMember as recorded", () => {
        assert.deepEqual(parseEtcdMember(recorded("EtcdMember", "c2")), {
            name: "c2",
            uid: "1d92484c-e01a-4838-acab-fac97f561ed3",
            leave: false,
            memberId: 0x429f7e7c0a99ed84n,
            peerAddress: "10.77.0.12",
            joined: "True",
            message: "Member joined",
            annotations: {},
        });
    });

    it("reads an EtcdMember whose status was never written, as every join has it for a moment", () => {
        const member = parseEtcdMember({ metadata: { name: "c3", uid: "u" }, spec: {} } as RawObject);
        assert.equal(member.memberId, undefined);
        assert.equal(member.joined, undefined);
        assert.equal(member.message, "");
    });

    it("keeps a member ID without its leading zero a number", () => {
        const raw = { status: { memberID: "f702bdb443b98d8", peerAddress: "10.0.0.1" } } as RawObject;
        assert.equal(parseEtcdMember(raw).memberId, 0xf702bdb443b98d8n);
    });

    it("takes a member ID that is no number for none", () => {
        assert.equal(parseEtcdMember({ status: { memberID: "xyz" } } as RawObject).memberId, undefined);
    });

    it("prefers the condition's message to the one that outlives its meaning", () => {
        const conditions = [{ type: "Joined", status: "False", message: "No such member ID" }];
        const raw = { spec: { leave: true }, status: { message: "Waiting", conditions } } as RawObject;
        assert.deepEqual(
            [parseEtcdMember(raw).message, parseEtcdMember(raw).leave, parseEtcdMember(raw).joined],
            ["No such member ID", true, "False"],
        );
    });

    it("reads a ControlNode as recorded", () => {
        assert.deepEqual(parseControlNode(recorded("ControlNode", "c3")), {
            name: "c3",
            uid: "cd8e2162-d9e9-459a-aa77-86bb0a0fbf93",
            addresses: ["10.77.0.13"],
            k0sVersion: "v1.36.3+k0s.2",
        });
    });

    it("reads a Node as recorded", () => {
        const node = parseNode(recorded("Node", "c1"));
        assert.equal(node.ready, true);
        assert.equal(node.readySince, Date.parse("2026-11-29T14:27:50Z"));
        assert.equal(node.unschedulable, false);
        assert.deepEqual(node.addresses, ["10.77.0.11"]);
        assert.equal(node.machineId, "87212ac8ec134638a0b92fe3d4e6862b");
        assert.equal(node.labels["node.k0sproject.io/role"], "control-plane");
    });

    it("takes a Node without conditions for not ready", () => {
        const node = parseNode({ metadata: { name: "fresh" } });
        assert.deepEqual([node.ready, node.readySince, node.addresses.length], [false, 0, 0]);
    });

    it("tells DaemonSet pods, mirror pods and pods that are going", () => {
        const pod = parsePod({
            metadata: {
                ownerReferences: [{ kind: "Other" }, { kind: "DaemonSet", controller: true }],
                annotations: { "kubernetes.io/config.mirror": "hash" },
                deletionTimestamp: "2026-11-29T14:26:49Z",
            },
        });
        assert.deepEqual([pod.ownerKind, pod.mirror, pod.deleting], ["DaemonSet", true, true]);
        assert.deepEqual(parsePod({}).ownerKind, undefined);
    });

    it("keeps a Lease's microseconds and reads a missing holder as none", () => {
        const spec = { leaseDurationSeconds: 60, renewTime: "2026-11-29T14:26:49.123456Z" };
        const lease = parseLease({ metadata: { name: "l" }, spec } as RawObject);
        assert.deepEqual([lease.renewTime, lease.holder], ["2026-11-29T14:26:49.123456Z", ""]);
    });

    it("writes times with microseconds", () => {
        assert.equal(microTime(new Date(1500)), "1970-01-01T00:00:01.500000Z");
    });
});
