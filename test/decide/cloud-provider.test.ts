import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type CloudProviderFacts, cloudProviderFlags } from "../../provider/decide/cloud-provider";

const facts = (change: Partial<CloudProviderFacts>): CloudProviderFacts => ({
    mke: false,
    helperArgs: ["controller", "--enable-worker=true"],
    role: "worker",
    installFlags: [],
    ...change,
});
const KUBELET = "--enable-cloud-provider";
const K0S = ["--enable-k0s-cloud-provider=true", "--k0s-cloud-provider-port=10258"];

const CASES: readonly [string, Partial<CloudProviderFacts>, readonly string[]][] = [
    ["none without a provider", {}, []],
    ["the kubelet's where MkeConfig has a provider", { mke: true }, [KUBELET]],
    ["the kubelet's for a controller that runs workloads", { mke: true, role: "controller+worker" }, [KUBELET]],
    ["none for a controller without a kubelet", { mke: true, role: "controller" }, []],
    ["the kubelet's where the helper has it", { helperArgs: [KUBELET] }, [KUBELET]],
    ["the kubelet's where the helper has it with a value", { helperArgs: [`${KUBELET}=true`] }, [KUBELET]],
    ["none where the helper has it off", { helperArgs: [`${KUBELET}=false`] }, []],
    ["k0s's own provider for controllers, with its settings", { helperArgs: K0S, role: "controller" }, K0S],
    ["none of k0s's own provider for workers", { helperArgs: K0S }, []],
    ["none that the program gives itself", { mke: true, installFlags: [`${KUBELET}=false`] }, []],
];

describe("the flags of a cloud provider", () => {
    for (const [what, change, flags] of CASES) {
        it(`are ${what}`, () => assert.deepEqual(cloudProviderFlags(facts(change)), flags));
    }
});
