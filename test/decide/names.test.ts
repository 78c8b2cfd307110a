import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { nodeNameOf, peerAddressOf, resourceId } from "../../provider/decide/names";
import { defined } from "../../provider/defined";
import type { Role } from "../../provider/inputs";

describe("names and addresses", () => {
    it("recognises the address it had before among those that k0s added", () => {
        const own = ["10.0.0.3", "172.17.0.1", "10.244.0.1"];
        const host = { address: "c3.example", addresses: own };
        const inputs = { role: "controller+worker" } as const;
        assert.equal(peerAddressOf(host, inputs).ok, false);
        assert.deepEqual(peerAddressOf(host, inputs, ["10.0.0.9", "10.0.0.3"]), { ok: true, address: "10.0.0.3" });
    });

    it("takes both families from the kubelet's flags as well, the first as the primary one", () => {
        const installFlags = ["--kubelet-extra-args=--v=2 --node-ip=10.0.0.3,2001:db8::3"];
        const host = { address: "c3.example", addresses: ["172.17.0.1", "10.0.0.3", "2001:db8::3"] };
        assert.deepEqual(peerAddressOf(host, { role: "controller", installFlags }), { ok: true, address: "10.0.0.3" });
    });

    it("takes the input, then the override among the flags, then the host's name, in lower case", () => {
        const flags = ["--kubelet-extra-args=--v=2 --hostname-override=Two"];
        assert.equal(nodeNameOf({ hostName: "Three" }, { nodeName: "One", installFlags: flags }), "one");
        assert.equal(nodeNameOf({ hostName: "Three" }, { installFlags: flags }), "two");
        assert.equal(nodeNameOf({ hostName: "Three" }, { installFlags: [] }), "three");
        assert.equal(resourceId("cluster", "three"), "cluster/three");
    });

    const addresses = ["10.0.0.3", "172.17.0.1", "fe80::1", "2001:db8::3"];
    const cases: readonly (readonly [
        string,
        string,
        readonly string[],
        string | undefined,
        Role,
        string | undefined,
    ])[] = [
        ["the input where the machine has it", "c3.example", addresses, "172.17.0.1", "controller", "172.17.0.1"],
        ["nothing where the machine does not have it", "c3.example", addresses, "10.9.9.9", "controller", undefined],
        ["the first of both families", "c3.example", addresses, "2001:db8::3,10.0.0.3", "controller", "2001:db8::3"],
        ["nothing where it lacks the second", "c3.example", addresses, "10.0.0.3,2001:db8::4", "worker", undefined],
        ["the host where the machine has it", "10.0.0.3", addresses, undefined, "controller", "10.0.0.3"],
        [
            "the only address there is",
            "c3.example",
            ["10.0.0.3", "fe80::1", "2001:db8::3"],
            undefined,
            "controller",
            "10.0.0.3",
        ],
        ["nothing for a controller with several", "c3.example", addresses, undefined, "controller+worker", undefined],
        ["the first for a worker with several", "w1.example", addresses, undefined, "worker", "10.0.0.3"],
        ["nothing on a machine without addresses", "w1.example", [], undefined, "worker", undefined],
    ];
    for (const [what, host, own, privateAddress, role, expected] of cases) {
        it(`chooses ${what}`, () => {
            const inputs = { role, ...defined({ privateAddress }) };
            const found = peerAddressOf({ address: host, addresses: own }, inputs);
            assert.equal(found.ok ? found.address : undefined, expected);
        });
    }
});
