import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import type { Host } from "../../provider/adapters/host";
import { CommandError, TimeoutError } from "../../provider/errors";
import type { HostOperation } from "../../provider/stages/operation";
import { reinstallNode } from "../../provider/pipelines/reinstall-node";
import type { ReinstallPlan } from "../../provider/stages/plan-reinstall";
import { cluster, controllerHost, node, stopped, workerHost } from "../decide/build";
import { only } from "../support/fake-calls";
import { type Scene, scene, stagesOf } from "../support/fake-operation";
import { freePort } from "../support/program";

const UNIT = "/etc/systemd/system/k0scontroller.service";
const plan: ReinstallPlan = {
    unit: { path: UNIT, content: "new" },
    config: undefined,
    entry: undefined,
    restart: true,
    back: [{ path: UNIT, content: "old" }],
    settings: [],
    notes: [],
};

describe("a restart of a controller with other settings", () => {
    const argv = process.argv;
    afterEach(() => void (process.argv = argv));

    it("whose engine is killed meanwhile is still put back where k0s does not come up", async () => {
        const port = await freePort();
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
        const cases: readonly [members: readonly string[], sick: boolean, restarts: number, told: RegExp][] = [
            [["c1", "c2", "c3"], false, 2, /did not end\nIts old settings were put back, and k0s runs with them\.$/],
            [["c1", "c2", "c3"], true, 1, /did not end\nIt keeps its new settings: k0s answers, and other members/],
            [["c1", "c3"], true, 2, /did not end\nIts old settings could not be put back: waiting for k0s on/],
        ];
        for (const [members, sick, restarts, told] of cases) {
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
            await assert.rejects(reinstallNode(quick(world), plan, { stopped: false }), told);
            assert.equal(only(world.calls, "c3 service restart").length, restarts, `${members.join()}, ${sick}`);
        }
    });
});

describe("a restart of a worker with other settings", () => {
    const unit = "/etc/systemd/system/k0sworker.service";
    const workerPlan = { ...plan, unit: { path: unit, content: "new" }, back: [{ path: unit, content: "old" }] };
    const worker = (target: (isNew: () => boolean) => Partial<Host>): Scene => {
        const isNew = (): boolean => world.files.get(unit) === "new";
        const world: Scene = scene({
            name: "w1",
            hostFacts: workerHost("w1"),
            cluster: cluster({ nodes: [node("w1")] }),
            target: target(isNew),
        });
        world.files.set(unit, "old");
        return world;
    };
    const failure = (world: Scene): Promise<string> =>
        reinstallNode(quick(world), workerPlan, { stopped: false }).then(
            () => "",
            (error: unknown) => String(error),
        );
    const back = /Its old settings were put back, and k0s runs with them\.$/;

    it("is put back where k0s does not come up, and where its kubelet does not", async () => {
        const silent = worker((isNew) => ({
            probe: async () => (isNew() ? stopped(workerHost("w1")) : workerHost("w1")),
            serviceState: async () => ({ active: "failed", sub: "failed", restarts: 3 }),
        }));
        assert.match(await failure(silent), /k0s does not stay up/);
        const deaf = worker((isNew) => ({ reach: async () => (isNew() ? "refused" : "open") }));
        const said = await failure(deaf);
        assert.match(said, /nothing listens on port 10250/);
        assert.match(said, back);
        for (const world of [silent, deaf]) {
            assert.equal(world.files.get(unit), "old");
            assert.equal(only(world.calls, "w1 service restart").length, 2);
            assert.deepEqual(stagesOf(world).slice(-3), [
                "putting the old settings back",
                "waiting for k0s",
                "waiting for kubelet",
            ]);
        }
    });

    it("is told to be without either, where that does not come up", async () => {
        const world = worker(() => ({ reach: async () => "refused" }));
        assert.match(await failure(world), /Its old settings could not be put back: waiting for kubelet on/);
        assert.equal(world.files.get(unit), "old");
    });

    it("is not put back by who has lost the lock", async () => {
        const world: Scene = worker(() => ({
            reach: async () => {
                world.loseLock();
                return "refused";
            },
        }));
        assert.match(await failure(world), /could not be put back: holding the lock/);
        assert.equal(world.files.get(unit), "new");
    });
});

const stuck = new TimeoutError({ stage: "restarting k0s", what: "it did not end" });

/** Waits that cannot succeed end soon. */
function quick({ operation }: Scene): HostOperation {
    const { inputs } = operation;
    return { ...operation, inputs: { ...inputs, timeouts: { ...inputs.timeouts, api: 0.2, ready: 0.2 } } };
}
