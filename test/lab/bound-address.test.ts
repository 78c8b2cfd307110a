import assert from "node:assert/strict";
import { it } from "mocha";
import { assertCluster } from "./checks";
import { describeOnOwnLab } from "./lab";
import { c1, c2, c3, type Machine, on, w1 } from "./machines";

const ALL = [c1, c2, c3];

/** What the sockets of port 6443 are bound to. */
async function listeningOn(machine: Machine): Promise<string> {
    return (await on(machine, "ss -Hltn 'sport = 6443' | awk '{ print $4 }'")).trim();
}

describeOnOwnLab(
    "a real cluster whose API listens on one address alone",
    { controllers: ALL, onlyBindToAddress: true },
    (lab) => {
        it("adopts its first controller and joins two more, each of which listens on its own address, and a worker", async () => {
            assert.equal(await listeningOn(c1), `${c1.address}:6443`, "this is the cluster that was meant");
            await lab().up({ controllers: ALL, workers: [w1] });
            await assertCluster({ controllers: [c1, c2, c3], workers: [w1] });
            for (const machine of ALL) assert.equal(await listeningOn(machine), `${machine.address}:6443`);
        });

        it("finds no drift, and changes nothing when run again", async () => {
            await lab().engine.refresh();
            assert.deepEqual((await lab().up({ controllers: ALL, workers: [w1] })).changes, { same: 5 });
        });

        it("takes a controller and the worker out again", async () => {
            await lab().up({ controllers: [c1, c2] });
            await assertCluster({ controllers: [c1, c2], blank: [c3, w1] });
        });
    },
);
