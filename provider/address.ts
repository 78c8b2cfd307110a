import type { Member } from "./facts/cluster";

/** fe80::/10 */
const IPV6_LINK_LOCAL = /^fe[89ab][0-9a-f]:/;

/** One spelling for an address: lower case, IPv6 compressed without brackets or zone, names without a last dot. */
export function normalAddress(address: string): string {
    const bare = address
        .trim()
        .toLowerCase()
        .replace(/^\[|\]$/g, "")
        .replace(/%.*$|\.$/, "");
    if (!bare.includes(":")) return bare;
    try {
        return new URL(`http://[${bare}]`).hostname.replace(/^\[|\]$/g, "");
    } catch {
        return bare;
    }
}

/** As it stands in a URL, or in front of a colon: `10.0.0.1`, `[fd00::1]`. */
export function urlHost(host: string): string {
    return host.includes(":") ? `[${host}]` : host;
}

/** As URLs and people write it: `10.0.0.1:6443`, `[fd00::1]:6443`. */
export function withPort({ host, port }: { readonly host: string; readonly port: number }): string {
    return `${urlHost(host)}:${port}`;
}

/** The addresses that occur in both lists. */
export function sharedAddresses(some: readonly string[], others: readonly string[]): string[] {
    const known = new Set(others.map(normalAddress));
    return some.map(normalAddress).filter((address) => known.has(address));
}

/**
 * Every address a host is known by: those of its interfaces and the one it was reached at. Without link-local ones, which tell
 * machines apart on one link only: Calico gives the same, fe80::ecee:eeff:feee:eeee, to interfaces of every machine.
 */
export function addressesOf(host: { readonly address: string; readonly addresses: readonly string[] }): string[] {
    const own = host.addresses.map(normalAddress).filter((address) => !IPV6_LINK_LOCAL.test(address));
    return [...new Set([...own, normalAddress(host.address)])];
}

/** The etcd member whose peers reach it at that address. */
export function memberAt(members: readonly Member[], address: string): Member | undefined {
    return members.find(({ peerHosts }) => sharedAddresses(peerHosts, [address]).length > 0);
}
