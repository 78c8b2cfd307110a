import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { RESOURCES, type Simulation, startSimulation } from "../sim";
import { differences, pictureOf } from "./picture";

describe("what the demo calls changed", () => {
    let sim: Simulation;

    beforeEach(async () => {
        sim = await startSimulation();
        sim.host("c1", { address: "10.77.0.11", k0s: "v1.36.3+k0s.2" });
        sim.bootstrapController("c1");
    });
    afterEach(() => sim.close());

    const changesBy = (change: () => void): readonly string[] => {
        const before = pictureOf(sim);
        change();
        return differences(before, pictureOf(sim));
    };

    it("is nothing where only time goes by", () => {
        assert.deepEqual(
            changesBy(() => sim.advance(120)),
            [],
        );
    });

    for (const [what, change, found] of [
        ["a file", () => sim.find("c1").files.write("/etc/k0s/new", "x"), /^new: c1: \/etc\/k0s\/new 644 /],
        ["a service", () => sim.find("c1").stopService(), /^gone: c1: runs k0scontroller$/m],
        ["a pod", () => sim.addPod("c1", { name: "shop" }), /^new: Pod: .*shop/],
        ["a cordon", () => cordon(sim), /^new: Node: .*"cordoned":true/m],
    ] as const) {
        it(`is ${what}`, () => {
            assert.match(changesBy(change).join("\n"), found);
        });
    }
});

function cordon(sim: Simulation): void {
    sim.cluster.store.update(RESOURCES.nodes, "c1", (node) => {
        node.spec = { ...node.spec, unschedulable: true };
    });
}
