import { normalAddress } from "../address";

export interface PeerNetworkFacts {
    /** All that the joining machine has. */
    readonly addresses: readonly string[];
    /** The one that its etcd and API server will use. */
    readonly chosen: string;
    /** Peers of the members that there are. */
    readonly peers: readonly string[];
    /** Where the helper's API server is, and its etcd. */
    readonly helper: { readonly api: string | undefined; readonly peer: string | undefined };
}

/** What a person should know about the networks of a controller that joins, a clause each; all of it is allowed. */
export function peerNetworkNotes({ addresses, chosen, peers, helper }: PeerNetworkFacts): string[] {
    const networks = new Set(peers.map(networkOf));
    const closer = addresses.find((address) => networks.has(networkOf(address)));
    const isApart = !networks.has(networkOf(chosen)) && closer !== undefined;
    const isSplit =
        helper.api !== undefined && helper.peer !== undefined && networkOf(helper.api) !== networkOf(helper.peer);
    return [
        ...(isApart
            ? [
                  `its etcd will be reached at ${chosen}, on another network than all members (${peers.join(", ")}); ` +
                      `the machine has ${closer} as well: privateAddress says which one`,
              ]
            : []),
        ...(isSplit
            ? [
                  `its API server and its etcd share one address, ${chosen}, while the helper has them on two networks ` +
                      `(${helper.api} and ${helper.peer})`,
              ]
            : []),
    ];
}

/** A guess, as the probe does not tell prefixes: /24, and /64 for IPv6. */
function networkOf(address: string): string {
    const normal = normalAddress(address);
    if (!normal.includes(":")) return normal.split(".").slice(0, 3).join(".");
    const [head = [], tail] = normal.split("::").map((part) => part.split(":").filter((group) => group !== ""));
    const middle = tail === undefined ? [] : Array<string>(8 - head.length - tail.length).fill("0");
    return [...head, ...middle, ...(tail ?? [])].slice(0, 4).join(":");
}
