import type { HostFacts } from "../facts/host";
import { hostnameOverride, nodeIps } from "../flags";
import type { NodeInputs } from "../inputs";
import { normalAddress, sharedAddresses } from "../address";

/** Whose a Node is (safety.md 6): organisation/project/stack/name. */
export const OWNER_ANNOTATION = "pulumi-mke/owner";
/** Made by each `create`; tells a node from its own replacement. */
export const TOKEN_ANNOTATION = "pulumi-mke/token";
/** API server a worker's kubelet uses (safety.md 20), e.g. `https://10.0.0.1:6443`. */
export const API_SERVER_ANNOTATION = "pulumi-mke/api-server";

/** Operation that cordoned the Node; another cordon is somebody else's. */
export const CORDON_ANNOTATION = "pulumi-mke/cordoned";
/** Keys of the labels that the program gave the Node, separated by commas: only these are taken away again. */
export const LABELS_ANNOTATION = "pulumi-mke/labels";

/** Taints that the program gave the Node, `key:Effect`, separated by commas: only these are taken away again. */
export const TAINTS_ANNOTATION = "pulumi-mke/taints";

/**
 * Name of the Node: the `nodeName` input, else `--hostname-override` among the install flags, else the host's name; lower
 * case, as k0s registers it (k0s-interfaces.md 6).
 */
export function nodeNameOf(
    host: Pick<HostFacts, "hostName">,
    inputs: Pick<NodeInputs, "nodeName" | "installFlags">,
): string {
    const name = inputs.nodeName ?? hostnameOverride(inputs.installFlags) ?? host.hostName;
    return name.trim().toLowerCase();
}

/** k0s names EtcdMember and ControlNode after the host, whatever the Node is called (k0s-interfaces.md 3.2). */
export function objectNameOf(host: Pick<HostFacts, "hostName">): string {
    return host.hostName.trim().toLowerCase();
}

/** Identifier of the resource: the same for the same node of the same cluster, so that a killed create is found again. */
export function resourceId(clusterId: string, nodeName: string): string {
    return `${clusterId}/${nodeName}`;
}

export type PeerAddress =
    { readonly ok: true; readonly address: string } | { readonly ok: false; readonly why: string };

/**
 * Address of the etcd peer and the kubelet: the first that the program names (`privateAddress`, `--node-ip`); else `host` if the machine has that address; else the
 * first of its addresses that is `known` already, from state or as a member's or its Node's (a running k0s adds bridges of its
 * own); else the machine's only one (IPv4 before IPv6). With several to choose from, a worker takes the first, because there it only helps
 * to recognise the machine, and a controller is refused: etcd would be stuck with a wrong guess.
 */
export function peerAddressOf(
    host: Pick<HostFacts, "address" | "addresses">,
    inputs: Pick<NodeInputs, "privateAddress" | "role"> & Partial<Pick<NodeInputs, "installFlags">>,
    known: readonly string[] = [],
): PeerAddress {
    const own = host.addresses.map(normalAddress);
    const [wanted, ...further] = nodeIps(inputs).map(normalAddress);
    if (wanted !== undefined) {
        const missing = [wanted, ...further].find((address) => !own.includes(address));
        if (missing === undefined) return { ok: true, address: wanted };
        const input = inputs.privateAddress === undefined ? "--node-ip" : "privateAddress";
        return { ok: false, why: `${input} ${missing} is not an address of the machine, which has ${list(own)}` };
    }
    if (own.includes(normalAddress(host.address))) return { ok: true, address: normalAddress(host.address) };
    const [recognised] = sharedAddresses(own, known);
    if (recognised !== undefined) return { ok: true, address: recognised };
    const candidates = usableAddresses(own);
    const [first] = candidates;
    if (first === undefined) return { ok: false, why: "the machine has no address but loopback" };
    if (candidates.length === 1 || inputs.role === "worker") return { ok: true, address: first };
    return {
        ok: false,
        why: `${host.address} is none of the machine's addresses (${list(candidates)}): say which one in privateAddress`,
    };
}

function usableAddresses(addresses: readonly string[]): string[] {
    const usable = addresses.filter((address) => !address.startsWith("fe80:") && !address.startsWith("169.254."));
    const ipv4 = usable.filter((address) => !address.includes(":"));
    return ipv4.length > 0 ? ipv4 : usable;
}

function list(addresses: readonly string[]): string {
    return addresses.length === 0 ? "none" : addresses.join(", ");
}
