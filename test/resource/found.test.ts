import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { foundHalfMade, foundIn, foundReady } from "../../provider/resource/found";
import { inputsOf, outputsOf } from "../../provider/resource/state";
import { address, BINARY, CA, cluster, CLUSTER_ID, controllerHost, node, TOKEN, workerHost } from "../decide/build";
import { scene } from "../support/fake-operation";
import { FOUND, stored } from "../support/node-bags";

const common = { drift: [], token: TOKEN, installedBinary: false, clusterId: CLUSTER_ID, caFingerprint: CA };

describe("the outputs of a node that is ready", () => {
    it("say of a controller which member etcd has at its address", async () => {
        const { operation } = scene({ hostFacts: controllerHost("c3") });
        assert.deepEqual(await foundReady(operation), {
            ...common,
            nodeName: "c3",
            status: "ready",
            state: "ready",
            memberId: "f03",
            peerAddress: address("c3"),
            machineId: "machine-c3",
            k0sVersion: "v1.36.3+k0s.2",
            apiServer: undefined,
        });
    });

    it("say of a worker through which API server it joined", async () => {
        const hostFacts = workerHost("w1", { apiServer: "https://10.0.0.1:6443" });
        const found = await foundReady(scene({ name: "w1", hostFacts }).operation);
        assert.deepEqual([found.memberId, found.apiServer], [undefined, "https://10.0.0.1:6443"]);
    });

    it("have a worker's address from its Node, whatever it was taken for before there was one", async () => {
        const hostFacts = { ...workerHost("w1"), addresses: ["172.17.0.1", address("w1")] };
        const facts = cluster();
        const options = { name: "w1", hostFacts, cluster: { ...facts, nodes: [...facts.nodes, node("w1")] } };
        const { operation } = scene(options);
        const found = await foundReady({ ...operation, peerAddress: "172.17.0.1" });
        assert.equal(found.peerAddress, address("w1"));
    });

    it("have the version of the program where k0s does not answer", async () => {
        const silent = controllerHost("c3", {
            status: { state: "silent", reason: "no socket" },
            binary: { ...BINARY, version: "v1.35.4+k0s.0" },
        });
        const { operation } = scene({ hostFacts: silent });
        assert.equal((await foundReady(operation)).k0sVersion, "v1.35.4+k0s.0");
    });

    it("remember that the k0s program is ours", async () => {
        const { operation } = scene();
        operation.progress.installedBinary = true;
        assert.equal((await foundReady(operation)).installedBinary, true);
    });
});

describe("the outputs of a node that is half made", () => {
    it("are enough to find it again, and are made without asking anybody", () => {
        const { operation, calls } = scene();
        assert.deepEqual(foundHalfMade(operation), {
            ...common,
            nodeName: "c3",
            status: "joining",
            state: "joining: the add did not reach its end",
            peerAddress: address("c3"),
            machineId: "machine-c3",
        });
        operation.progress.memberId = 0xf03n;
        assert.equal(foundHalfMade(operation).memberId, "f03");
        assert.deepEqual(calls, []);
    });
});

describe("what an earlier run found", () => {
    it("is taken out of the outputs whole, and without the inputs", () => {
        const outs = stored() as unknown as Parameters<typeof foundIn>[0];
        const found = { ...FOUND, apiServer: undefined, directories: undefined };
        assert.deepEqual(foundIn(outs), found);
        assert.deepEqual(outputsOf(inputsOf(outs), foundIn(outs)).status, FOUND.status);
    });
});
