import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { CommandError } from "../../provider/errors";
import { reinstallNode } from "../../provider/pipelines/reinstall-node";
import type { ReinstallPlan } from "../../provider/stages/plan-reinstall";
import { cluster, controllerHost, stopped } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, scene, stagesOf } from "../support/fake-operation";
import { freePorts } from "../support/program";

const UNIT = "/etc/systemd/system/k0scontroller.service";
const plan: ReinstallPlan = {
    unit: { path: UNIT, content: "new", before: "old" },
    config: undefined,
    restart: true,
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
});
