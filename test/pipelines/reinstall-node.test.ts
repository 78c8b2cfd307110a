import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { CommandError, TimeoutError } from "../../provider/errors";
import type { HostOperation } from "../../provider/pipelines/operation";
import { reinstallNode } from "../../provider/pipelines/reinstall-node";
import type { ReinstallPlan } from "../../provider/stages/plan-reinstall";
import { cluster, controllerHost, stopped } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, scene, stagesOf } from "../support/fake-operation";
import { freePorts } from "../support/program";

const UNIT = "/etc/systemd/system/k0scontroller.service";
const plan: ReinstallPlan = {
    unit: { path: UNIT, content: "new" },
    config: undefined,
    restart: true,
    back: [{ path: UNIT, content: "old" }],
    settings: [],
    notes: [],
};

describe("a restart of a controller with other settings", () => {
    const argv = process.argv;
    afterEach(() => void (process.argv = argv));

    it("whose engine is killed meanwhile is still put back where k0s does not come up", async () => {
        const [port = 0] = await freePorts(1);
        const dead = ["node", "/x/cmd/dynamic-provider/index.js", `127.0.0.1:${port}`];
        const healthy = controllerHost("c3");
        const world: Scene = scene({
            cluster: cluster({}, ["c1", "c3"]),
            hostFacts: healthy,
            target: {
                service: async (action) => {
                    if (action === "restart") process.argv = dead;
                },
                probe: async () => (world.files.get(UNIT) === "new" ? stopped(healthy) : healthy),
                serviceState: async () => ({ active: "failed", sub: "failed", restarts: 3 }),
            },
        });
        world.files.set(UNIT, "old");
        await assert.rejects(reinstallNode(world.operation, plan, { stopped: false }), CommandError);
        assert.deepEqual(stagesOf(world).slice(-4), [
            "restarting k0s",
            "waiting for k0s",
            "putting the old settings back",
            "waiting for k0s",
        ]);
        assert.equal(world.files.get(UNIT), "old");
        assert.equal(only(world.calls, "c3 service restart").length, 2);
    });

    it("is put back where the restart itself did not end, but not while k0s answers and another member is not healthy", async () => {
        const cases: readonly [members: readonly string[], sick: boolean, restarts: number][] = [
            [["c1", "c2", "c3"], false, 2],
            [["c1", "c2", "c3"], true, 1],
            [["c1", "c3"], true, 2],
        ];
        for (const [members, sick, restarts] of cases) {
            let isSick = false;
            const world: Scene = scene({
                cluster: cluster({}, members),
                hostFacts: controllerHost("c3"),
                others: { isReady: async () => !isSick },
                target: {
                    service: async (action) => {
                        if (action !== "restart" || isSick) return;
                        isSick = sick;
                        if (only(world.calls, "c3 service restart").length === 1) throw stuck;
                    },
                },
            });
            world.files.set(UNIT, "old");
            await assert.rejects(reinstallNode(quick(world), plan, { stopped: false }), stuck);
            assert.equal(only(world.calls, "c3 service restart").length, restarts, `${members.join()}, ${sick}`);
        }
    });
});

const stuck = new TimeoutError({ stage: "restarting k0s", what: "it did not end" });

/** Waits that cannot succeed end soon. */
function quick({ operation }: Scene): HostOperation {
    const { inputs } = operation;
    return { ...operation, inputs: { ...inputs, timeouts: { ...inputs.timeouts, api: 0.2 } } };
}
