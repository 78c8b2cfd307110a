import { isIP } from "node:net";

/** As Go's `net.JoinHostPort` has it: `10.77.0.11:2380`, `[fd00::11]:2380`. */
export function hostPort(host: string, port: number): string {
    return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function httpsUrl(host: string, port: number): string {
    return `https://${hostPort(host, port)}`;
}

/** Host and port that a URL names, the host as it is without URLs: `fd00::11`. */
export function serverOf(url: string): { readonly host: string; readonly port: number } {
    const { hostname, port } = new URL(url);
    return { host: bare(hostname), port: Number(port) };
}

/** One spelling for all of an address: a machine is reached by each (RFC 5952). */
export function oneSpelling(address: string): string {
    return isIP(address) === 6 ? bare(new URL(`http://[${address}]`).hostname) : address;
}

function bare(hostname: string): string {
    return hostname.replace(/^\[|\]$/g, "");
}
