import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Deadline } from "../../provider/deadline";
import { waitForKubelet } from "../../provider/stages/reinstall-service";
import { address, cluster, node, workerHost } from "../decide/build";
import { scene } from "../support/fake-operation";

describe("waiting for kubelet after a restart", () => {
    /** kubelet of w1 listens at one address, on the port that its Node names. */
    const wait = (listensAt: string | undefined): Promise<unknown> => {
        const { operation } = scene({
            name: "w1",
            hostFacts: workerHost("w1"),
            cluster: cluster({ nodes: [node("w1", { kubeletPort: 10251 })] }),
            target: { reach: async (host, port) => (host === listensAt && port === 10251 ? "open" : "refused") },
        });
        return waitForKubelet(operation, Deadline.after(0));
    };

    it("ends when it listens, on all addresses or on its own alone (--address)", async () => {
        await wait("127.0.0.1");
        await wait(address("w1"));
    });

    it("does not end before", async () => {
        await assert.rejects(wait(undefined), /last seen: nothing listens on port 10251\n.*journal of k0sworker/);
    });
});
