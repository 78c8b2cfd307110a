import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { CommandError, RefusedError } from "../../provider/errors";
import type { NodeObject } from "../../provider/facts/cluster";
import { nothingToDo } from "../../provider/stages/stage";
import { waitForNode } from "../../provider/stages/wait-for-node";
import { blankHost, cluster, node, workerHost } from "../decide/build";
import { type SceneOptions, type Scene, scene } from "../support/fake-operation";

/** w1 joins; `registered` is the Node of that name. */
function joining(registered: NodeObject | undefined, options: SceneOptions = {}): Scene {
    const { nodes } = cluster();
    return scene({
        name: "w1",
        cluster: cluster({ nodes: registered === undefined ? nodes : [...nodes, registered] }),
        ...options,
    });
}

const wait = ({ operation }: Scene, milliseconds = 0): Promise<unknown> =>
    waitForNode(operation, Deadline.after(milliseconds));

describe("waiting for the Node", () => {
    it("ends when this machine's Node is Ready", async () => {
        assert.equal(await wait(joining(node("w1"))), "w1 is Ready");
        assert.equal(await wait(joining(node("w1", { machineId: "" }))), "w1 is Ready");
    });

    it("does not end with a Node that another machine registered, Ready or not", async () => {
        const older = node("w1", { machineId: "another" });
        await assert.rejects(wait(joining(older)), /last seen: Node w1 still belongs to machine another/);
    });

    it("ends at once where the machine was renamed, with the way to mend it", async () => {
        const hostFacts = workerHost("w1", { hostName: "Other" });
        for (const registered of [undefined, node("w1", { ready: false })]) {
            await assert.rejects(wait(joining(registered, { hostFacts }), 60_000), (error: Error) => {
                assert.ok(error instanceof RefusedError);
                assert.equal(error.topic, "renamed-machine");
                assert.match(error.message, /the machine is called other now, and its Node is w1\n.*set-hostname w1/);
                return true;
            });
        }
        assert.equal(await wait(joining(node("w1"), { hostFacts })), "w1 is Ready");
        // Before its service is installed nothing tells the name that it will have.
        const blank = blankHost("w1", { hostName: "other" });
        await assert.rejects(wait(joining(undefined, { hostFacts: blank })), /last seen: Node w1 is not registered/);
    });

    it("says what is missing at its end, and where to look", async () => {
        await assert.rejects(
            wait(joining(undefined)),
            /last seen: Node w1 is not registered\nLook at .* k0sworker on /,
        );
        await assert.rejects(wait(joining(node("w1", { ready: false }))), /last seen: Node w1 is NotReady/);
    });

    for (const state of [
        { active: "failed", sub: "failed", restarts: 0 },
        { active: "activating", sub: "auto-restart", restarts: 3 },
    ]) {
        it(`ends at once when k0s is ${state.active} after ${state.restarts} restarts, with the journal`, async () => {
            const target = { serviceState: async () => state, journal: async () => "no space left on device" };
            await assert.rejects(wait(joining(undefined, { target }), 60_000), (error: Error) => {
                assert.ok(error instanceof CommandError && !error.retryable);
                assert.match(error.message, /\n {2}no space left on device\n/);
                return true;
            });
        });
    }

    it("goes on while k0s has no unit yet, or restarted twice", async () => {
        for (const state of [undefined, { active: "activating", sub: "auto-restart", restarts: 2 }]) {
            const world = joining(undefined, { target: { serviceState: async () => state } });
            await assert.rejects(wait(world), /is not registered/);
        }
    });

    it("is nothing for a plain controller, and asks nobody", async () => {
        const world = scene({ inputs: { role: "controller" } });
        assert.deepEqual(await wait(world), nothingToDo("a plain controller has no Node"));
        assert.deepEqual(world.calls, []);
    });

    it("is as long for a controller with a kubelet", async () => {
        await assert.rejects(wait(scene({ cluster: cluster({}, ["c1", "c2"]) })), /Node c3 is not registered/);
    });
});
