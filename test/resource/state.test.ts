import assert from "node:assert/strict";
import type { NodeInputs } from "../../provider/inputs";
import type { Bag } from "../../provider/resource/shape";
import { encodeOutputs, InitFailure, inputsOf, outputsOf, resourceName } from "../../provider/resource/state";
import { checked, FOUND, stored } from "../support/node-bags";

describe("outputs", () => {
    it("echo the inputs, tell the requested name from the found one, and lead back to the inputs", () => {
        for (const given of [{}, { nodeName: "c2", privateAddress: "10.0.0.12", k0sConfig: { spec: { a: [1] } } }]) {
            const inputs = checked(given);
            const outs = stored(inputs);
            for (const [name, value] of Object.entries(inputs)) assert.deepEqual(outs[name], value);
            assert.equal(outs["nodeName"], "c2");
            assert.equal(outs["requestedNodeName"], inputs["nodeName"]);
            assert.deepEqual(inputsOf(outs), inputs);
        }
    });

    it("of workers lead back to inputs of workers", () => {
        const inputs = checked({}, "worker");
        assert.deepEqual(inputsOf(stored(inputs)), inputs);
    });

    it("of an older shape are completed with defaults", () => {
        const inputs = inputsOf({
            host: "10.0.0.12",
            role: "worker",
            cluster: { controllers: [{ host: "10.0.0.11" }] },
        });
        assert.equal(inputs.timeouts.ready, 600);
        assert.equal(inputs.cluster.controllers[0]?.connection.port, 22);
        assert.equal(inputs.role, "worker");
    });

    it("of any shape never make reading them throw", () => {
        for (const outs of [{}, { connection: 5 }, { cluster: { controllers: 7 } }, { role: null, triggers: {} }]) {
            assert.doesNotThrow(() => inputsOf(outs));
        }
    });
});

describe("encoded outputs", () => {
    it("hold no undefined at any depth, and nothing that Pulumi cannot store", () => {
        const encoded = encodeOutputs({ a: undefined, b: { c: undefined, d: [{ e: undefined }] }, id: 17844033129n });
        assert.deepEqual(encoded, { b: { d: [{}] }, id: "17844033129" });
        assert.deepEqual(Object.keys(encoded), ["b", "id"]);
    });

    it("drop found values that are not there yet", () => {
        const inputs = checked() as unknown as NodeInputs;
        const outs = encodeOutputs(outputsOf(inputs, { ...FOUND, memberId: undefined, clusterId: undefined }));
        assert.equal("memberId" in outs || "clusterId" in outs || "requestedNodeName" in outs, false);
    });
});

describe("an init failure", () => {
    const inputs: Bag = { ...checked(), __provider: "the text" };
    const found = { ...FOUND, status: "joining", memberId: undefined } as const;
    const outs = outputsOf(checked() as unknown as NodeInputs, found);

    it("keeps id, outputs and the stored text, and gives the error as the reason", () => {
        const failure = new InitFailure({
            id: "c/c2",
            inputs,
            outs,
            error: new Error("joining etcd on 10.0.0.12: no voter"),
        });
        assert.equal(failure.id, "c/c2");
        assert.deepEqual(failure.reasons, ["joining etcd on 10.0.0.12: no voter"]);
        assert.equal(failure.properties["__provider"], "the text");
        assert.deepEqual(inputsOf(failure.properties), checked());
        assert.deepEqual(failure.properties, JSON.parse(JSON.stringify(failure.properties)));
    });

    it("always has a reason, because Pulumi shows nothing else", () => {
        assert.notEqual(new InitFailure({ id: "x", inputs, outs, error: new Error("") }).reasons[0], "");
        assert.deepEqual(new InitFailure({ id: "x", inputs, outs, error: "text" }).reasons, ["text"]);
    });
});

describe("the name of a resource", () => {
    it("is what follows organisation, project and stack", () => {
        assert.equal(resourceName({ owner: "org/proj/dev/c2" }), "c2");
        assert.equal(resourceName({ owner: "org/proj/dev/rack/c2" }), "rack/c2");
        assert.equal(resourceName({ host: "10.0.0.1" }), "10.0.0.1");
    });
});
