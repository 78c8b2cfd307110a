import assert from "node:assert/strict";
import { it } from "mocha";
import { MkeControllerNode } from "pulumi-mke";
import { describeEngine, setReady } from "./scene";

describeEngine("what a person sees of an update", (start) => {
    it("is its reason in one line, what a long wait waits for, and a summary among the stack's outputs", async () => {
        const scene = await start(["c2"]);
        const { sim, engine } = scene;
        sim.addSettled("c2", "controller+worker");
        const login = (name: string) => ({ host: sim.find(name).address, connection: sim.connectionArgs(name) });
        const program =
            (labels = {}) =>
            () => {
                const { nodeName, memberId, k0sVersion, state, drift } = new MkeControllerNode("rack/c2", {
                    ...login("c2"),
                    cluster: { controllers: [login("c1")] },
                    preflight: { os: false, minDiskMiB: false },
                    timeouts: { connect: 20, ready: 20 },
                    labels,
                });
                return Promise.resolve({ nodeName, memberId, k0sVersion, state, drift });
            };
        await engine.up(program());
        const outputs = await engine.outputs();
        const own = sim.members().find(({ name }) => name === "c2");
        assert.deepEqual(outputs, {
            nodeName: { value: "c2", secret: false },
            memberId: { value: own?.id.toString(16), secret: false },
            k0sVersion: { value: "v1.36.3+k0s.2", secret: false },
            state: { value: "ready", secret: false },
            drift: { value: [], secret: false },
        });
        setReady(scene, "c2", "False");
        await engine.refresh();
        await assert.rejects(engine.up(program({ zone: "a" })), /Node c2 is NotReady/);
        const said = engine.output.join("");
        assert.match(said, /rack\/c2: will be updated: Node c2 is NotReady; labels\.zone changed/);
        assert.match(said, /rack\/c2: waiting for the Node … \d+ s so far: Node c2 is NotReady/);
        setReady(scene, "c2", "True");
        await engine.up(program({ zone: "a" }));
        assert.equal((await engine.outputsOf("rack/c2"))["status"], "ready");
    });
});
