import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { nameCollisions } from "../../provider/decide/collisions";
import { cluster, controlNode, etcdMember, controllerHost } from "./build";
import { leaving, removed } from "./situations";

/** Of all controllers: `spec.api.address` is a balancer's, and one holds it today. */
const BALANCER = "10.0.0.100";
const balanced = cluster({
    controlNodes: ["c1", "c2", "c3"].map((name) => controlNode(name, { addresses: [BALANCER] })),
});

describe("a ControlNode whose address is a balancer's", () => {
    it("is the controller's whose EtcdMember has its name", () => {
        assert.deepEqual(nameCollisions(controllerHost("c3"), balanced, "c3"), []);
        assert.equal(removed(leaving({ cluster: balanced })).controlNode?.name, "c3");
    });

    it("is nobody else's, although the machine has that address today", () => {
        const host = controllerHost("c3");
        const holder = { ...host, addresses: [...host.addresses, BALANCER] };
        assert.equal(removed(leaving({ host: holder, cluster: balanced })).controlNode?.name, "c3");
    });

    it("is another machine's where that name's EtcdMember is elsewhere, or there is none", () => {
        const elsewhere = { ...balanced, etcdMembers: [etcdMember("c3", { peerAddress: "10.9.9.9" })] };
        assert.equal(nameCollisions(controllerHost("c3"), elsewhere, "c3").length, 2);
        assert.equal(nameCollisions(controllerHost("c3"), { ...balanced, etcdMembers: [] }, "c3").length, 1);
    });
});
