import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { otherDirectories, refuseOtherDirectories, runningDirectories } from "../../provider/decide/directories";
import { planEndOfCluster } from "../../provider/decide/last-controller";
import { planAdd, planRemove } from "../../provider/decide/plan";
import type { HostFacts, K0sStatus } from "../../provider/facts/host";
import { blankHost, BINARY, cluster, controllerHost, member, node, unit, workerHost } from "./build";
import { leaving, refused, worker } from "./situations";

const STOPPED: K0sStatus = { state: "silent", reason: "no socket" };

/** w1, whose service has these flags, whose k0s says these directories, and that was asked about those of the program. */
function host(
    flags: readonly string[],
    said: { dataDir: string; kubeletRootDir?: string } | undefined,
    asked: { dir?: string; kubeletRoot?: string } = {},
): HostFacts {
    const facts = workerHost("w1");
    const { status, data } = facts;
    assert.ok(status.state === "answers");
    return {
        ...facts,
        units: { controller: undefined, worker: unit(["/usr/local/bin/k0s", "worker", ...flags]) },
        status: said === undefined ? STOPPED : { ...status, kubeletRootDir: undefined, ...said },
        data: { ...data, ...asked },
    };
}

describe("the directories that k0s runs with", () => {
    it("are what it says itself, else what its service says, else not known", () => {
        const flags = ["--data-dir=/data/k0s"];
        const said = { dataDir: "/other/k0s", kubeletRootDir: "/other/kubelet" };
        assert.deepEqual(runningDirectories(host(flags, said)), said);
        const served = { dataDir: "/data/k0s", kubeletRootDir: "/data/k0s/kubelet" };
        assert.deepEqual(runningDirectories(host(flags, undefined)), served);
        assert.deepEqual(runningDirectories(host(["--data-dir", "/data/k0s/"], undefined)), served);
        assert.equal(runningDirectories(blankHost("w1", { binary: BINARY })), undefined);
    });

    for (const [what, facts, right] of [
        ["the defaults", host([], { dataDir: "/var/lib/k0s", kubeletRootDir: "/var/lib/k0s/kubelet" }), undefined],
        ["an old k0s that tells no root directory of kubelet", host([], { dataDir: "/var/lib/k0s" }), undefined],
        [
            "the same in another spelling",
            host(["--kubelet-root-dir=/data//kubelet/"], undefined, { kubeletRoot: "/data/kubelet" }),
            undefined,
        ],
        [
            "another data directory, with kubelet's in it",
            host([], { dataDir: "/data/k0s", kubeletRootDir: "/data/k0s/kubelet" }),
            'dataDir: "/data/k0s"',
        ],
        [
            "a root directory of kubelet that the program does not name",
            host(["--kubelet-root-dir=/data/kubelet"], undefined),
            'kubeletRootDir: "/data/kubelet"',
        ],
        [
            "one that only the program names",
            host([], undefined, { kubeletRoot: "/srv/data" }),
            'kubeletRootDir: "/var/lib/k0s/kubelet"',
        ],
        [
            "a service that was changed and has not been started with that",
            host(["--data-dir=/new/k0s"], { dataDir: "/var/lib/k0s" }),
            'dataDir: "/new/k0s"',
        ],
    ] as const) {
        it(`are compared with the program's: ${what}`, () => {
            const refusal = refuseOtherDirectories({ role: "worker", host: facts });
            assert.equal(refusal?.topic, right === undefined ? undefined : "directories");
            if (right !== undefined) assert.ok(refusal?.advice?.startsWith(`Set ${right}.`), refusal?.advice);
        });
    }

    it("have no kubelet's among them on a controller that runs none", () => {
        const facts = host([], { dataDir: "/var/lib/k0s", kubeletRootDir: "/data/kubelet" });
        assert.equal(refuseOtherDirectories({ role: "controller", host: facts }), undefined);
        assert.notEqual(refuseOtherDirectories({ role: "controller+worker", host: facts }), undefined);
    });

    it("are kept for state only where they differ", () => {
        assert.equal(otherDirectories(host([], { dataDir: "/var/lib/k0s" }), "worker"), undefined);
        assert.deepEqual(otherDirectories(host(["--data-dir=/data"], undefined), "worker"), {
            dataDir: "/data",
            kubeletRootDir: "/data/kubelet",
        });
    });

    it("that are not the program's refuse an adoption and a removal, also the last controller's", () => {
        const facts = host(["--kubelet-root-dir=/data/kubelet"], undefined);
        const nodes = { cluster: cluster({ nodes: [...cluster().nodes, node("w1")] }) };
        assert.equal(refused(planAdd(worker({ ...nodes, host: facts }))).topic, "directories");
        assert.equal(refused(planRemove(worker({ ...nodes, host: facts }))).topic, "directories");
        const last = controllerHost("c3", {
            units: {
                controller: unit(["k0s", "controller", "--enable-worker", "--data-dir=/data"]),
                worker: undefined,
            },
        });
        const alone = cluster({ members: [member("c3")] });
        const end = planEndOfCluster(leaving({ host: last, cluster: alone }), { onLastController: "reset" });
        assert.equal(end.kind === "refuse" && end.topic, "directories");
    });
});

describe("files of others in the directories that a reset empties", () => {
    const nodes = { cluster: cluster({ nodes: [...cluster().nodes, node("w1")] }) };
    const { data } = workerHost("w1");

    it("refuse a removal before anything is touched", () => {
        const facts = workerHost("w1", { data: { ...data, foreign: ["customers.db"] } });
        const refusal = refused(planRemove(worker({ ...nodes, host: facts })));
        assert.equal(refusal.topic, "directories");
        assert.deepEqual(refusal.evidence, ["/var/lib/k0s holds customers.db"]);
    });

    it("refuse the last controller's too", () => {
        const last = controllerHost("c3");
        const host = { ...last, data: { ...last.data, foreign: ["customers.db"] } };
        const alone = cluster({ members: [member("c3")] });
        const end = planEndOfCluster(leaving({ host, cluster: alone }), { onLastController: "reset" });
        assert.equal(end.kind === "refuse" && end.topic, "directories");
    });

    it("are nobody's business where the machine is not touched", () => {
        const facts = workerHost("w1", { marker: undefined, data: { ...data, foreign: ["customers.db"] } });
        const plan = planRemove(worker({ ...nodes, host: facts, state: { token: "another" } }));
        assert.equal(plan.kind === "remove" && plan.touchesHost, false);
    });
});
