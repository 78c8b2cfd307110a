import { connect } from "node:net";
import type { Duplex } from "node:stream";
import type { Host } from "../../provider/adapters/host";
import type { HostFacts } from "../../provider/facts/host";

export interface LoopbackHostOptions {
    readonly address?: string;
    /** Path to content. */
    readonly files?: Readonly<Record<string, string>>;
    readonly facts?: HostFacts;
    /** Where a connection to `host:port` really goes; default: there. */
    readonly route?: (host: string, port: number) => { readonly host: string; readonly port: number };
}

/** A host that is this machine: its connections are opened from here, its files are given. Anything else is an error. */
export function loopbackHost({ address = "127.0.0.1", files = {}, facts, route }: LoopbackHostOptions): Host {
    const known = {
        address,
        onMachine: (): Host => host,
        probe: (): Promise<HostFacts> =>
            facts === undefined ? Promise.reject(new Error("no facts given")) : Promise.resolve(facts),
        readFile: (path: string): Promise<Buffer | undefined> =>
            Promise.resolve(files[path] === undefined ? undefined : Buffer.from(files[path])),
        // async, so that a route that throws is a connection that fails
        connect: async (host: string, port: number): Promise<Duplex> => open(route?.(host, port) ?? { host, port }),
    };
    const host: Host = new Proxy(known as unknown as Host, {
        get: (target, name) => {
            if (name in target || name === "then") return Reflect.get(target, name) as unknown;
            throw new Error(`the loopback host has no ${String(name)}`);
        },
    });
    return host;
}

function open({ host, port }: { readonly host: string; readonly port: number }): Promise<Duplex> {
    return new Promise((resolve, reject) => {
        const socket = connect({ host, port });
        socket.once("connect", () => {
            socket.off("error", reject);
            resolve(socket);
        });
        socket.once("error", reject);
    });
}
