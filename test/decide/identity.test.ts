import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { isOurs, type Mark, ownership, whichCluster } from "../../provider/decide/identity";
import type { HostFacts } from "../../provider/facts/host";
import { blankHost, CA, CLUSTER_ID, controllerHost, marker, OWNER, TOKEN, workerHost } from "./build";

const pins = { caFingerprint: CA, clusterId: CLUSTER_ID };
const OTHER_CA = "sha256:99";
function withCa(host: HostFacts, ca: Partial<HostFacts["ca"]>): HostFacts {
    return { ...host, ca: { pki: undefined, kubelet: undefined, unreadable: false, ...ca } };
}

describe("which cluster a host belongs to", () => {
    const cases: readonly (readonly [string, HostFacts, string])[] = [
        ["a controller with this CA", controllerHost("c3"), "this"],
        ["a controller with another CA", withCa(controllerHost("c3"), { pki: OTHER_CA }), "another"],
        ["a worker with this CA in kubelet.conf", workerHost("w1"), "this"],
        [
            "a worker with an older worker's CA left in pki",
            withCa(workerHost("w1"), { kubelet: CA, pki: OTHER_CA }),
            "this",
        ],
        [
            "a foreign worker with our CA left in pki",
            withCa(workerHost("w1"), { kubelet: OTHER_CA, pki: CA }),
            "another",
        ],
        ["an older worker with its CA in pki only", withCa(workerHost("w1"), { pki: CA }), "this"],
        [
            "a controller with a worker's old kubelet.conf",
            withCa(controllerHost("c3"), { pki: CA, kubelet: OTHER_CA }),
            "this",
        ],
        ["a controller without pki", withCa(controllerHost("c3"), { kubelet: CA }), "none"],
        ["a blank host", blankHost("w1"), "none"],
        ["a host with a broken CA", withCa(blankHost("w1"), { unreadable: true }), "unreadable"],
        ["a blank host with our marker", blankHost("w1", { marker: marker("w1", "worker") }), "none"],
    ];
    for (const [what, host, expected] of cases) {
        it(`says ${expected} of ${what}`, () => assert.equal(whichCluster(host, pins), expected));
    }
});

describe("whose machine it is", () => {
    const unmarked = (host: HostFacts): HostFacts => ({ ...host, marker: undefined });
    const cases: readonly (readonly [
        string,
        HostFacts,
        { machineId?: string; token?: string } | undefined,
        boolean,
    ])[] = [
        ["our marker", blankHost("w1", { marker: marker("w1", "worker") }), { token: TOKEN }, true],
        ["our marker, and no state yet", blankHost("w1", { marker: marker("w1", "worker") }), undefined, true],
        [
            "a marker of another cluster",
            blankHost("w1", { marker: marker("w1", "worker", { clusterId: "x" }) }),
            undefined,
            false,
        ],
        [
            "a marker that came with a copied disk",
            blankHost("w1", { marker: marker("w2", "worker") }),
            undefined,
            false,
        ],
        ["a marker with another token", blankHost("w1", { marker: marker("w1", "worker") }), { token: "old" }, false],
        ["no marker, our CA and the machine in state", unmarked(workerHost("w1")), { machineId: "machine-w1" }, true],
        ["no marker, our CA and no machine in state", unmarked(workerHost("w1")), {}, false],
        ["no marker, no CA, the machine in state", blankHost("w1"), { machineId: "machine-w1" }, false],
        [
            "our marker, and another machine in state",
            workerHost("w1"),
            { machineId: "machine-old", token: TOKEN },
            false,
        ],
    ];
    for (const [what, host, state, ours] of cases) {
        it(`${ours ? "is ours" : "is not ours"} with ${what}`, () =>
            assert.equal(isOurs(host, state, pins).ours, ours));
    }
});

describe("ownership", () => {
    const mine: Mark = { owner: OWNER, token: TOKEN };
    const theirs: Mark = { owner: "organization/other/dev/x", token: "theirs" };
    const renamed: Mark = { owner: "organization/project/old/c3", token: TOKEN };
    const host = ({ owner = "", token = "" }: Mark) => ({ owner, token });
    const cases = [
        ["nothing is marked", undefined, undefined, "unmarked", "unmarked", "adopt"],
        ["nothing is marked, never adopt", undefined, undefined, "never", "unmarked", "refuse"],
        ["both marks are mine", mine, mine, "unmarked", "mine", "proceed"],
        ["only the host is marked as mine", mine, undefined, "never", "mine", "proceed"],
        ["only the Node is marked as mine", undefined, mine, "never", "mine", "proceed"],
        ["the token is mine, the owner was renamed", renamed, undefined, "unmarked", "mine", "proceed"],
        ["the host is another owner's", theirs, undefined, "unmarked", "other", "refuse"],
        ["the Node is another owner's", mine, theirs, "never", "other", "refuse"],
        ["another owner's is taken over", theirs, theirs, "takeOver", "other", "take-over"],
    ] as const;
    for (const [what, onHost, onNode, adopt, whose, decision] of cases) {
        it(`answers ${decision} where ${what}`, () => {
            const found = ownership(onHost && host(onHost), onNode, { owner: OWNER, token: TOKEN, adopt });
            assert.equal(found.whose, whose);
            assert.equal(found.decision, decision);
        });
    }

    it("advises an alias where the other owner is a resource of the same stack", () => {
        const claim = { owner: "organization/project/dev/pool-w1", adopt: "unmarked" } as const;
        const adviceAgainst = (owner: string) => ownership({ owner, token: "theirs" }, undefined, claim).advice;
        assert.match(adviceAgainst("organization/project/dev/w1") ?? "", /aliases: \[\{ name: "w1" \}\]/);
        assert.match(adviceAgainst("organization/project/dev/w1") ?? "", /parent: pulumi\.rootStackResource/);
        assert.equal(adviceAgainst("organization/project/prod/w1"), undefined);
        assert.equal(adviceAgainst("organization/other/dev/w1"), undefined);
    });

    it("tells another token of the same owner", () => {
        const claim = { owner: OWNER, adopt: "unmarked" } as const;
        assert.equal(ownership(host(mine), undefined, { ...claim, token: TOKEN }).token, "same");
        assert.equal(ownership(host(mine), undefined, { ...claim, token: "newer" }).token, "other");
        assert.equal(ownership(host(mine), undefined, claim).token, "unknown");
    });
});
