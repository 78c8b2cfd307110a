import * as pulumi from "@pulumi/pulumi";
import { controllerStub, workerStub } from "../../sdk/stub";

/** The text that Pulumi stores with a resource, made as Pulumi makes it. */
export async function stubText(kind: "controller" | "worker"): Promise<string> {
    return (await serializedStub(kind)).text;
}

export function serializedStub(kind: "controller" | "worker"): Promise<pulumi.runtime.SerializedFunction> {
    // The name of the variable is part of the text.
    const provider = kind === "controller" ? controllerStub : workerStub;
    return pulumi.runtime.serializeFunction(() => provider, { allowSecrets: true });
}
