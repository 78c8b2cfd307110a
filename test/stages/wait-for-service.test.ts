import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Kube } from "../../provider/adapters/kube";
import { Deadline } from "../../provider/deadline";
import { requireQuorumWithout, waitForService } from "../../provider/stages/wait-for-service";
import { address, cluster, controllerHost, stopped, workerHost } from "../decide/build";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

const sick = { isReady: async (): Promise<boolean> => false };
const wait = (options: SceneOptions): Promise<unknown> => waitForService(scene(options).operation, Deadline.after(0));

describe("waiting for k0s after a start", () => {
    it("ends when k0s answers and the controller's own member is healthy", async () => {
        await wait({ hostFacts: controllerHost("c3") });
    });

    it("does not end while k0s is silent, whatever its Node says", async () => {
        const silent = wait({ hostFacts: stopped(controllerHost("c3")) });
        await assert.rejects(silent, /last seen: k0s does not answer: no socket/);
    });

    it("does not end while the member is not healthy, or not there", async () => {
        const hostFacts = controllerHost("c3");
        await assert.rejects(wait({ hostFacts, others: sick }), /its etcd member is not healthy/);
        await assert.rejects(wait({ hostFacts, cluster: cluster({}, ["c1", "c2"]) }), /its etcd member is not healthy/);
    });

    it("asks nothing of etcd for a worker", async () => {
        await wait({ name: "w1", hostFacts: workerHost("w1"), others: sick });
    });
});

describe("the quorum while a controller restarts", () => {
    const require_ = ({ operation }: Scene): Promise<unknown> => requireQuorumWithout(operation, Deadline.after(5000));
    const five = cluster({}, ["c1", "c2", "c3", "c4", "c5"]);

    it("must hold without it", async () => {
        await require_(scene());
        await require_(scene({ cluster: five }));
        await assert.rejects(require_(scene({ cluster: five, others: sick })), {
            name: "RefusedError",
            topic: "quorum",
        });
        await assert.rejects(require_(scene({ others: sick })), /etcd would lose its quorum/);
    });

    it("does not count the one that restarts, which is healthy as long as it runs", async () => {
        const without = (...dead: readonly string[]): Promise<unknown> => {
            const { operation } = scene({ cluster: five });
            const servers = operation.cluster;
            const asked = (at: string): Kube =>
                dead.some((name) => address(name) === at)
                    ? { ...servers.kubeAt(at, 0), isReady: async () => false }
                    : servers.kubeAt(at, 0);
            const world = { ...operation, cluster: { ...servers, kubeAt: asked } };
            return requireQuorumWithout(world, Deadline.after(5000));
        };
        // Of five three must be left: c3 itself is one of those that run.
        await without("c4");
        await assert.rejects(without("c4", "c5"), /etcd would lose its quorum/);
        // One that is not healthy itself takes nothing away.
        await without("c3", "c4");
    });

    it("cannot hold with two, where the restart is the repair", async () => {
        await require_(scene({ cluster: cluster({}, ["c1", "c3"]), others: sick }));
    });
});
