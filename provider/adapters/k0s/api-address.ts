/** The parts of a k0s node configuration that say where the API is (k0s-interfaces.md 2.5). */
interface ApiConfig {
    readonly spec?: {
        readonly api?: { readonly address?: string; readonly externalAddress?: string; readonly port?: number };
        readonly network?: { readonly nodeLocalLoadBalancing?: { readonly enabled?: boolean } };
    };
}

/** Host and port that join tokens name: the external address, else the serving controller's own. */
export function apiServerOf(config: unknown, helperAddress: string): { readonly host: string; readonly port: number } {
    const api = (config as ApiConfig | undefined)?.spec?.api;
    return { host: api?.externalAddress ?? api?.address ?? helperAddress, port: api?.port ?? 6443 };
}

/** True where a worker keeps its API server when any one controller goes. */
export function workersAreIndependent(config: unknown): boolean {
    const spec = (config as ApiConfig | undefined)?.spec;
    return spec?.api?.externalAddress !== undefined || spec?.network?.nodeLocalLoadBalancing?.enabled === true;
}
