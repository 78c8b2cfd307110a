import type { Duplex } from "node:stream";
import { oneSpelling } from "./address";
import type { SimHost } from "./host";

/** What a connection meets. `host`: whose machine answers. */
export type Route =
    | { readonly verdict: "open"; readonly host: SimHost; readonly accept: (stream: Duplex) => void }
    | { readonly verdict: "refused" | "blocked"; readonly host: SimHost | undefined };

interface Balancer {
    readonly hosts: readonly SimHost[];
    /** Port of its own → port of the hosts; none: all ports are theirs. */
    readonly ports: Readonly<Record<number, number>>;
}

/** The one network all simulated machines are on. */
export class Network {
    private readonly machines = new Map<string, SimHost>();
    private readonly balancers = new Map<string, Balancer>();
    /** What the network's name server knows besides the names of the machines. */
    readonly names = new Map<string, readonly string[]>();

    add(host: SimHost): void {
        for (const address of host.addresses.map(oneSpelling)) {
            if (this.machines.has(address)) throw new Error(`two hosts have the address ${address}`);
            this.machines.set(address, host);
        }
    }

    get hosts(): readonly SimHost[] {
        return [...new Set(this.machines.values())];
    }

    /** Connections to that address go to the first of these hosts where the port is open. */
    balance(address: string, hosts: readonly SimHost[], ports: Readonly<Record<number, number>> = {}): void {
        this.balancers.set(oneSpelling(address), { hosts, ports });
    }

    addressesOf(name: string): readonly string[] {
        return this.names.get(name) ?? this.byName(name)?.addresses ?? [];
    }

    /** `from` undefined: from outside, through the bastion. */
    route(from: SimHost | undefined, asked: string, port: number): Route {
        const address = oneSpelling(asked);
        if (from !== undefined && !from.powered) return { verdict: "blocked", host: undefined };
        if (from !== undefined && isLoopback(address)) return this.arrive(from, port, true, address);
        const balancer = this.balancers.get(address);
        if (balancer !== undefined) return this.balanced(from, balancer, port);
        const host = this.machines.get(address) ?? this.named(address);
        if (host === undefined || !host.powered || host.drops(from, port)) return { verdict: "blocked", host };
        const to = host.addresses.map(oneSpelling).includes(address) ? address : host.address;
        return this.arrive(host, port, host === from, to);
    }

    private balanced(from: SimHost | undefined, { hosts, ports }: Balancer, given: number): Route {
        const port = Object.keys(ports).length === 0 ? given : ports[given];
        if (port === undefined) return { verdict: "refused", host: undefined };
        const routes = hosts.map((backend) => this.route(from, backend.address, port));
        return routes.find(({ verdict }) => verdict === "open") ?? { verdict: "refused", host: undefined };
    }

    private arrive(host: SimHost, port: number, fromItself: boolean, to: string): Route {
        const accept = host.listener(port, fromItself, to);
        return accept === undefined ? { verdict: "refused", host } : { verdict: "open", host, accept };
    }

    private named(name: string): SimHost | undefined {
        const [address = name] = this.names.get(name) ?? [];
        return this.machines.get(oneSpelling(address)) ?? this.byName(name);
    }

    private byName(name: string): SimHost | undefined {
        return this.hosts.find((host) => host.hostName.toLowerCase() === name.toLowerCase());
    }
}

function isLoopback(address: string): boolean {
    return address === "localhost" || address === "::1" || address.startsWith("127.");
}
