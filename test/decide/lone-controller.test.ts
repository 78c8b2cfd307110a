import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { planEndOfCluster } from "../../provider/decide/last-controller";
import { planLoneStart } from "../../provider/decide/lone-controller";
import type { HostFacts, HostMarker } from "../../provider/facts/host";
import { CA, cluster, CLUSTER_ID, controllerHost, marker, member, node, record, stopped, TOKEN } from "./build";
import { leaving } from "./situations";

const KNOWN = { token: TOKEN, machineId: "machine-c3", memberId: "f03", clusterId: CLUSTER_ID, caFingerprint: CA };
const RUNNING = withData({ etcdIds: { memberId: 0xf03n, clusterId: 0xabcn } });
const STOPPED = stopped(RUNNING);

function withData(change: Partial<HostFacts["data"]>, host: HostFacts = controllerHost("c3")): HostFacts {
    return { ...host, data: { ...host.data, ...change } };
}

function marked(change: Partial<HostMarker>): HostFacts {
    return { ...STOPPED, marker: marker("c3", "controller", change) };
}

describe("a controller that nobody else can speak for", () => {
    it("is started where its machine, its mark and its database are those of the state", () => {
        assert.deepEqual(planLoneStart(STOPPED, KNOWN), { kind: "start" });
    });

    it("is waited for while it starts", () => {
        const starting: HostFacts = { ...RUNNING, status: { state: "silent", reason: "no socket" } };
        assert.deepEqual(planLoneStart(starting, KNOWN), { kind: "wait" });
    });

    const withoutMark: HostFacts = { ...STOPPED, marker: undefined };
    const withoutUnit: HostFacts = { ...STOPPED, units: { controller: undefined, worker: undefined } };
    const otherCa: HostFacts = { ...STOPPED, ca: { pki: "sha256:other", kubelet: undefined, unreadable: false } };
    const others: HostFacts = { ...STOPPED, k0sctlLock: { holder: "somebody", ageSeconds: 1 } };
    for (const [what, host, why] of [
        ["another machine", { ...STOPPED, machineId: "other" }, /another machine/],
        ["no mark", withoutMark, /mark/],
        ["the mark of another resource", marked({ token: "other" }), /mark/],
        ["the mark of another cluster", marked({ clusterId: "other" }), /mark/],
        ["an ended cluster", marked({ operation: record("remove", { endsCluster: true }) }), /end of its cluster/],
        ["no service", withoutUnit, /not installed/],
        ["another CA", otherCa, /CA/],
        ["no database", withData({ etcdDatabase: false }, STOPPED), /new cluster with the same CA/],
        ["the database of another member", withData({ etcdIds: { memberId: 1n, clusterId: 2n } }, STOPPED), /member 1/],
        ["k0sctl at work", others, /k0sctl/],
        ["a k0s that runs and has no majority", RUNNING, /cannot be used/],
    ] as const) {
        it(`is not started with ${what}`, () => {
            const plan = planLoneStart(host, KNOWN);
            assert.match(plan.kind === "refuse" ? plan.what : plan.kind, why);
        });
    }

    it("is not started with a database that names no member, nor where the state knows none", () => {
        const { etcdIds: _, ...unnamed } = STOPPED.data;
        assert.equal(planLoneStart({ ...STOPPED, data: unnamed }, KNOWN).kind, "refuse");
        assert.equal(planLoneStart(STOPPED, { ...KNOWN, memberId: undefined }).kind, "refuse");
    });

    it("never counts as one to give up while it runs: others may be its majority", () => {
        const plan = planLoneStart(RUNNING, KNOWN);
        assert.equal(plan.kind === "refuse" && plan.topic, "quorum");
    });
});

describe("the end of a cluster", () => {
    const alone = cluster({ members: [member("c3")], nodes: [node("c3"), node("w1")] });
    const end = (change: object, onLastController: "fail" | "reset" = "reset") =>
        planEndOfCluster(leaving({ host: controllerHost("c3"), cluster: alone, ...change }), { onLastController });

    it("needs that the program asks for it, and names the other Nodes that have to go before", () => {
        assert.deepEqual(end({}), { kind: "end-cluster", otherNodes: ["w1"] });
        const refusal = end({}, "fail");
        assert.match(refusal.kind === "refuse" ? refusal.what : "", /onLastController is not "reset"/);
    });

    it("is refused while etcd has another member, on a machine that is not ours, and where it does not answer", () => {
        const two = cluster({ members: [member("c3"), member("c2")] });
        const refusals = [
            end({ cluster: two }),
            end({ host: controllerHost("c3", { machineId: "other" }) }),
            end({ host: undefined }),
        ];
        assert.deepEqual(
            refusals.map((plan) => plan.kind === "refuse" && plan.what),
            ["it is not the only etcd member", "the machine is not ours", "the last controller does not answer"],
        );
    });
});
