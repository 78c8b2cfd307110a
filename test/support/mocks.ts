import * as pulumi from "@pulumi/pulumi";

export interface Registered {
    readonly type: string;
    readonly name: string;
    readonly inputs: Record<string, unknown>;
}

const { specialSecretSig, specialSigKey } = pulumi.runtime;

/** Pulumi without an engine: answers what was registered. `known`: false for a preview. */
export function startMocks(preview = false): Registered[] {
    const registered: Registered[] = [];
    const mocks: pulumi.runtime.Mocks = {
        newResource: ({ type, name, inputs }) => {
            registered.push({ type, name, inputs: inputs as Record<string, unknown> });
            const found = { nodeName: name, status: "ready", memberId: "1f", apiServer: "https://a:6443" };
            return { id: name, state: { ...(inputs as object), ...found } };
        },
        call: () => ({}),
    };
    void pulumi.runtime.setMocks(mocks, "mke", "test", preview, "acme");
    return registered;
}

export function known<T>(output: pulumi.Output<T>): Promise<T> {
    return new Promise((resolve) => output.apply(resolve));
}

/** True where the value that was registered is marked as a secret. */
export function isMarkedSecret(value: unknown): boolean {
    return (
        typeof value === "object" &&
        value !== null &&
        (value as Record<string, unknown>)[specialSigKey] === specialSecretSig
    );
}
