import { isIP } from "node:net";
import { PORTS } from "./paths";

export interface HostPort {
    readonly host: string;
    readonly port: number;
}

/** The parts of a k0s node configuration that say where the API is (k0s-interfaces.md 2.5). */
interface ApiConfig {
    readonly spec?: null | {
        readonly api?: null | {
            readonly address?: string;
            readonly externalAddress?: string;
            readonly port?: number;
            readonly k0sApiPort?: number;
        };
        readonly network?: null | { readonly nodeLocalLoadBalancing?: null | { readonly enabled?: boolean } };
    };
}

/**
 * Host and port that join tokens of workers name: the external address, which may bring a port of its own (k0s 1.36.3,
 * APIServerHostPort), else the serving controller's own.
 */
export function apiServerOf(config: unknown, helperAddress: string): HostPort {
    const { api } = specOf(config);
    return splitHostPort(api?.externalAddress || api?.address || helperAddress, api?.port ?? PORTS.api);
}

/**
 * The same of controllers. An external address with a port is taken as it is: no join port takes its place (k0s 1.36.3,
 * getExternalURIForPort).
 */
export function joinServerOf(config: unknown, helperAddress: string): HostPort {
    const { api } = specOf(config);
    return splitHostPort(api?.externalAddress || api?.address || helperAddress, joinPortOf(config));
}

/** Host of the external address, without the port that it may bring; undefined where the cluster has none. */
export function externalHostOf(config: unknown): string | undefined {
    const external = specOf(config).api?.externalAddress;
    return external ? splitHostPort(external, PORTS.api).host : undefined;
}

/** Where a joining controller asks for certificates and its etcd membership. */
export function joinPortOf(config: unknown): number {
    return specOf(config).api?.k0sApiPort ?? PORTS.join;
}

/** How workers reach the API: `external` and `node-local` depend on no single controller (safety.md 20). */
export function apiAccessOf(config: unknown): "external" | "node-local" | "controllers" {
    const { api, network } = specOf(config);
    if (api?.externalAddress) return "external";
    return network?.nodeLocalLoadBalancing?.enabled === true ? "node-local" : "controllers";
}

/** Any part of a k0s.yaml may be `null`: nobody has checked it. */
function specOf(config: unknown): NonNullable<ApiConfig["spec"]> {
    return (config as ApiConfig | null | undefined)?.spec ?? {};
}

/** `name`, `name:8443`, `10.0.0.1:8443`, `[fd00::1]:8443`, `fd00::1`. */
function splitHostPort(text: string, defaultPort: number): HostPort {
    if (isIP(text) !== 0) return { host: text, port: defaultPort };
    const { host = text, port } = /^\[?(?<host>[^\]]*?)\]?(?::(?<port>\d+))?$/.exec(text)?.groups ?? {};
    return { host, port: port === undefined ? defaultPort : Number(port) };
}
