import { normalAddress, sharedAddresses } from "../../address";
import { isTree, treeOf } from "../tree";
import { rawArgsIn, withValue } from "./raw-args";

type Tree = Record<string, unknown>;

/** What an argument is for another host: its value, or undefined where it has none there. */
type Rule = (name: string, value: string) => string | undefined;

/** etcd arguments that name this host or its moment of joining; k0s works them out for each host. */
const HOST_ETCD_ARGS = /^(name|listen-.*|advertise-.*|initial-.*)$/;
/** Addresses that mean the same on every host. */
const ON_EVERY_HOST = /^(0\.0\.0\.0|::|127\.\d+\.\d+\.\d+|::1|localhost)$/;

/**
 * A controller's k0s.yaml without what belongs to its host (safety.md 17). `dropped`: the settings that were left out, or kept
 * in part, as paths. The configuration that is given is changed.
 */
export function takeHostParts(config: Tree, ownAddress: string): { readonly dropped: readonly string[] } {
    const { api, storage, network } = treeOf(config["spec"]);
    const dropped = [
        ...changeArgs(api, "spec.api", apiRule),
        ...changeArgs(treeOf(storage)["etcd"], "spec.storage.etcd", etcdRule),
    ];
    listenAt(api, ownAddress);
    for (const instance of unicastInstances(network)) speakFrom(instance, ownAddress);
    return { dropped };
}

/** Directories in which etcd's arguments have it keep its data, sorted; the data directory of k0s is none of them. */
export function etcdDirectoriesIn(config: unknown): string[] {
    const { extraArgs, rawArgs } = treeOf(treeOf(treeOf(treeOf(config)["spec"])["storage"])["etcd"]);
    const given = [
        ...Object.entries(treeOf(extraArgs)),
        ...rawArgsIn(rawArgs).map(({ name, value }) => [name, value] as const),
    ];
    const found = given.filter(([name]) => name === "data-dir" || name === "wal-dir").map(([, value]) => String(value));
    return [...new Set(found.filter((path) => path.startsWith("/")))].sort();
}

/** True where keepalived's peers are listed, and that address is not among them. */
export function lacksUnicastPeer(config: unknown, address: string): boolean {
    return unicastInstances(treeOf(treeOf(config)["spec"])["network"]).some(
        (instance) => sharedAddresses(speakers(instance), [address]).length === 0,
    );
}

const etcdRule: Rule = (name, value) => {
    // k0s looks into its own directory to know whether it has joined (controller.go, 1.36.3): it would join at every start.
    if (name === "data-dir") return undefined;
    if (!HOST_ETCD_ARGS.test(name)) return value;
    if (name !== "listen-metrics-urls") return undefined;
    const urls = value.split(",").filter((url) => ON_EVERY_HOST.test(hostOf(url)));
    return urls.length === 0 ? undefined : urls.join(",");
};

const apiRule: Rule = (name, value) => (name === "advertise-address" ? undefined : value);

/** API servers that listen on one address alone do so on every controller, each on its own. */
function listenAt(api: unknown, ownAddress: string): void {
    const ownOf = (address: string): string => (ON_EVERY_HOST.test(address) ? address : ownAddress);
    const { extraArgs, rawArgs } = treeOf(api) as Tree;
    const bound = treeOf(extraArgs)["bind-address"];
    if (typeof bound === "string") (extraArgs as Tree)["bind-address"] = ownOf(bound);
    if (!Array.isArray(rawArgs)) return;
    (api as Tree)["rawArgs"] = rawArgsIn(rawArgs).flatMap((arg) =>
        arg.name === "bind-address" ? withValue(arg, ownOf(arg.value ?? "")) : arg.words,
    );
}

function changeArgs(component: unknown, at: string, rule: Rule): string[] {
    if (!isTree(component)) return [];
    const changed: string[] = [];
    const ruled = (kind: string, name: string, value: string): string | undefined => {
        const result = rule(name, value);
        if (result !== value) changed.push(`${at}.${kind}.${name}`);
        return result;
    };
    const { extraArgs, rawArgs } = component;
    if (isTree(extraArgs)) {
        const kept = Object.entries(extraArgs).flatMap(([name, value]): [string, unknown][] => {
            const result = ruled("extraArgs", name, String(value));
            return result === undefined ? [] : [[name, result === String(value) ? value : result]];
        });
        (component as Tree)["extraArgs"] = Object.fromEntries(kept);
    }
    if (Array.isArray(rawArgs)) {
        (component as Tree)["rawArgs"] = rawArgsIn(rawArgs).flatMap((arg) => {
            const value = arg.value ?? "";
            const result = ruled("rawArgs", arg.name, value);
            return result === undefined ? [] : result === value ? arg.words : withValue(arg, result);
        });
    }
    return changed;
}

function hostOf(url: string): string {
    return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
}

/** keepalived speaks from its own address to all others: k0s takes none that is its own among the peers (cplb.go, 1.36.3). */
function speakFrom(instance: Tree, ownAddress: string): void {
    const others = speakers(instance);
    instance["unicastSourceIP"] = ownAddress;
    instance["unicastPeers"] = [...new Set(others)].filter(
        (address) => normalAddress(address) !== normalAddress(ownAddress),
    );
}

/** Peers, and the one that the configuration was written for. */
function speakers(instance: Tree): string[] {
    const source = instance["unicastSourceIP"];
    return [...peersOf(instance), ...(typeof source === "string" ? [source] : [])];
}

/** Those of keepalived's instances that do not use multicast. */
function unicastInstances(network: unknown): Tree[] {
    const { keepalived } = treeOf(treeOf(network)["controlPlaneLoadBalancing"]);
    const { vrrpInstances } = treeOf(keepalived);
    if (!Array.isArray(vrrpInstances)) return [];
    return vrrpInstances.filter(isTree).filter((instance) => peersOf(instance).length > 0);
}

function peersOf({ unicastPeers }: Readonly<Record<string, unknown>>): string[] {
    return Array.isArray(unicastPeers) ? unicastPeers.map(String) : [];
}
