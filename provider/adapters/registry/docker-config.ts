import { registryOf } from "./reference";

/** Login to a registry. */
export interface RegistryLogin {
    readonly username: string;
    readonly password: string;
}

interface DockerConfig {
    readonly auths?: Readonly<Record<string, { auth?: string; username?: string; password?: string } | undefined>>;
}

/**
 * The login for a registry from the content of a `.dockerconfigjson`; undefined where it has none. The content is secret, so
 * that nothing of it gets into an error.
 */
export function loginFrom(dockerConfig: string, registry: string): RegistryLogin | undefined {
    const { auths = {} } = parsed(dockerConfig);
    const entry = Object.entries(auths).find(([address]) => registryOf(address) === registry.toLowerCase())?.[1];
    if (entry === undefined) return undefined;
    const { username, password, auth } = entry;
    if (username !== undefined && password !== undefined) return { username, password };
    const pair = Buffer.from(auth ?? "", "base64").toString("utf8");
    const colon = pair.indexOf(":");
    return colon < 0 ? undefined : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

function parsed(text: string): DockerConfig {
    try {
        return (JSON.parse(text) as DockerConfig | null) ?? {};
    } catch {
        return {};
    }
}
