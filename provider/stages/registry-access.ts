import { Registry } from "../adapters/registry/client";
import { loginFrom, type RegistryLogin } from "../adapters/registry/docker-config";
import { type ArtifactReference, parseReference, registryOf } from "../adapters/registry/reference";
import { InputError } from "../errors";
import type { Operation } from "./operation";

/** A registry that can be read from, and what is wanted of it. */
export interface OpenRegistry {
    readonly registry: Registry;
    readonly reference: ArtifactReference;
}

/**
 * The registry of `k0s.ociArtifact` with login and authority from the inputs; what they leave out comes from MkeConfig, if
 * that names the same registry (spec/002, "Registry verification"). Neither ever leaves this process.
 */
export async function openRegistry(operation: Operation, artifact: string, stage: string): Promise<OpenRegistry> {
    const { registry: given, host } = operation.inputs;
    const reference = parseReference(artifact);
    const own = loginOf(given.username, given.password);
    const theirs =
        own === undefined || given.caCertificate === undefined
            ? await fromMkeConfig(operation, reference.registry, own === undefined)
            : undefined;
    if (given.username !== undefined && given.password === undefined) {
        throw new InputError({ stage, host, what: "registry.username is given without registry.password" });
    }
    const access = { login: own ?? theirs?.login, ca: given.caCertificate ?? theirs?.ca };
    return { registry: new Registry(reference.registry, access, stage), reference };
}

function loginOf(username: string | undefined, password: string | undefined): RegistryLogin | undefined {
    return username === undefined || password === undefined ? undefined : { username, password };
}

async function fromMkeConfig(
    { clusterFacts, cluster }: Operation,
    registry: string,
    withLogin: boolean,
): Promise<{ login: RegistryLogin | undefined; ca: string | undefined } | undefined> {
    if (!clusterFacts.mke) return undefined;
    const image = (await cluster.kube.mke.config())?.imageRegistry;
    if (image === undefined || registryOf(image.url) !== registry.toLowerCase()) return undefined;
    const secret = withLogin ? image.credentialsSecretName : undefined;
    const content = secret === undefined ? undefined : await cluster.kube.mke.dockerConfig(secret);
    return {
        login: content === undefined ? undefined : loginFrom(content, registry),
        ca: image.caData === undefined ? undefined : pemOf(image.caData),
    };
}

/** `caData` is PEM, or PEM in base64 as Kubernetes writes bytes. */
function pemOf(caData: string): string {
    return caData.includes("-----BEGIN") ? caData : Buffer.from(caData, "base64").toString("utf8");
}
