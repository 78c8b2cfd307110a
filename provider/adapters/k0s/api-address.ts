import { PORTS } from "./paths";

/** The parts of a k0s node configuration that say where the API is (k0s-interfaces.md 2.5). */
interface ApiConfig {
    readonly spec?: {
        readonly api?: {
            readonly address?: string;
            readonly externalAddress?: string;
            readonly port?: number;
            readonly k0sApiPort?: number;
        };
        readonly network?: { readonly nodeLocalLoadBalancing?: { readonly enabled?: boolean } };
    };
}

/** Host and port that join tokens name: the external address, else the serving controller's own. */
export function apiServerOf(config: unknown, helperAddress: string): { readonly host: string; readonly port: number } {
    const api = (config as ApiConfig | undefined)?.spec?.api;
    return { host: api?.externalAddress || api?.address || helperAddress, port: api?.port ?? PORTS.api };
}

/** Where a joining controller asks for certificates and its etcd membership. */
export function joinPortOf(config: unknown): number {
    return (config as ApiConfig | undefined)?.spec?.api?.k0sApiPort ?? PORTS.join;
}

/** How workers reach the API: `external` and `node-local` depend on no single controller (safety.md 20). */
export function apiAccessOf(config: unknown): "external" | "node-local" | "controllers" {
    const spec = (config as ApiConfig | undefined)?.spec;
    if (spec?.api?.externalAddress) return "external";
    return spec?.network?.nodeLocalLoadBalancing?.enabled === true ? "node-local" : "controllers";
}
