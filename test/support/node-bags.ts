import assert from "node:assert/strict";
import type { NodeInputs, NodeKind } from "../../provider/inputs";
import { check } from "../../provider/resource/check";
import type { Bag } from "../../provider/resource/shape";
import { encodeOutputs, type FoundOutputs, outputsOf } from "../../provider/resource/state";

/** The least a program has to say. */
export const PROGRAM: Bag = {
    host: "10.0.0.12",
    cluster: { controllers: [{ host: "10.0.0.11" }] },
    owner: "organization/mke/test/n",
};

/** Checked inputs of a program that says this besides the least. */
export function checked(given: Bag = {}, kind: NodeKind = "controller"): Bag {
    const { inputs, failures } = check(kind, { ...PROGRAM, ...given });
    assert.deepEqual(failures, []);
    return inputs;
}

/** What is wrong with a program that says this besides the least: property path to reason. */
export function failuresOf(given: Bag, kind: NodeKind = "controller"): Record<string, string> {
    const { failures } = check(kind, { ...PROGRAM, ...given });
    return Object.fromEntries(failures.map(({ property, reason }) => [property, reason]));
}

export const FOUND: FoundOutputs = {
    nodeName: "c2",
    status: "ready",
    state: "controller c2 is a voting member and Ready",
    drift: [],
    token: "4f1c",
    installedBinary: true,
    clusterId: "b57a9a0e-7e62-4b0b-a6b4-6a0a8f4b3c12",
    caFingerprint: `sha256:${"ab".repeat(32)}`,
    memberId: "f702bdb443b98d8",
    peerAddress: "10.0.0.12",
    k0sVersion: "v1.36.3+k0s.2",
    machineId: "c0ffee",
};

/** State of a node that was made from these inputs, as it comes back from Pulumi. */
export function stored(inputs: Bag = checked(), found: Partial<FoundOutputs> = {}): Bag {
    return encodeOutputs(outputsOf(inputs as unknown as NodeInputs, { ...FOUND, ...found }));
}
