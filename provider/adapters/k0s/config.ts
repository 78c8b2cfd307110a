import { isDeepStrictEqual } from "node:util";
import { lacksUnicastPeer, takeHostParts } from "./host-parts";
import { k0sYaml, parseK0sYaml } from "./yaml";

type Tree = Record<string, unknown>;

export interface JoinerAddresses {
    /** For `spec.api.address` and `spec.storage.etcd.peerAddress`. */
    readonly address: string;
}

/**
 * The k0s.yaml of a joining controller: the helper's without what belongs to the helper's host (safety.md 17), with the
 * joiner's addresses, and the user's over it, deeply. Lists of the user replace. `spec.api.sans` is kept: it names where
 * the cluster is reached, and k0s adds the host's own address itself.
 */
export function configForJoiner(
    helperConfig: unknown,
    own: JoinerAddresses,
    user: Readonly<Record<string, unknown>> | undefined,
): string {
    const config = structuredClone(isTree(helperConfig) ? helperConfig : {});
    takeHostParts(config, own.address);
    const merged = merge(withAddresses(config, own.address), user ?? {});
    return k0sYaml(merged);
}

/** What a person should know about the k0s.yaml that such a controller gets, a clause each; never a value. */
export function notesForJoiner(helperConfig: unknown, own: JoinerAddresses): string[] {
    const config = structuredClone(isTree(helperConfig) ? helperConfig : {});
    const isUnlisted = lacksUnicastPeer(config, own.address);
    const { dropped } = takeHostParts(config, own.address);
    return [
        ...(dropped.length === 0
            ? []
            : [`left out of its k0s.yaml, because it belongs to one host alone: ${dropped.join(", ")}`]),
        ...(isUnlisted
            ? [`keepalived's unicastPeers in the other controllers' k0s.yaml do not name ${own.address}: add it there`]
            : []),
    ];
}

/** What a controller that joins at this address would take over. */
interface Joiner {
    readonly helperConfig: unknown;
    readonly address: string;
}

/**
 * A running controller's own k0s.yaml with the changes of the program's and no other: what the node has of its own stays.
 * `before`: what the program may have had merged into it, several where an earlier change did not end; what it no longer
 * names goes back to what a joining node would have there. The same text where nothing differs.
 */
export function configAfter(
    own: string | undefined,
    joiner: Joiner,
    before: readonly (Readonly<Record<string, unknown>> | undefined)[],
    after: Readonly<Record<string, unknown>> | undefined,
): string {
    const current = parseK0sYaml(own ?? "");
    const base = baseOf(joiner);
    const start = isTree(current) ? current : { apiVersion: base["apiVersion"], kind: base["kind"] };
    const dropped = before.reduce<Tree>((config, earlier) => takeBack(config, base, earlier ?? {}, after ?? {}), start);
    const result = merge(dropped, after ?? {});
    return own !== undefined && isDeepStrictEqual(result, current) ? own : k0sYaml(result);
}

/**
 * Settings that the program named earlier and no longer does, and that stay all the same, as paths: the controller that helps
 * has them with the same value, so that nothing tells the program's from the cluster's.
 */
export function keptByCluster(
    joiner: Joiner,
    before: readonly (Readonly<Record<string, unknown>> | undefined)[],
    after: Readonly<Record<string, unknown>> | undefined,
): string[] {
    const base = baseOf(joiner);
    return [...new Set(before.flatMap((earlier) => alsoIn(base, earlier ?? {}, after ?? {})))];
}

function alsoIn(base: Tree, earlier: Tree, after: Tree, prefix = ""): string[] {
    return Object.entries(earlier).flatMap(([key, value]) => {
        const path = `${prefix}${key}`;
        const wanted = after[key];
        if (isTree(value) && (wanted === undefined || isTree(wanted))) {
            return alsoIn(tree(base[key]), value, tree(wanted), `${path}.`);
        }
        return wanted === undefined && isDeepStrictEqual(base[key], value) ? [path] : [];
    });
}

function baseOf({ helperConfig, address }: Joiner): Tree {
    return tree(parseK0sYaml(configForJoiner(helperConfig, { address }, undefined)));
}

/** What only `earlier` names gets its value from `base`, or goes. */
function takeBack(config: Tree, base: Tree, earlier: Tree, after: Tree): Tree {
    const result: Tree = { ...config };
    for (const [key, value] of Object.entries(earlier)) {
        const [here, wanted] = [result[key], after[key]];
        if (isTree(value) && isTree(here) && (wanted === undefined || isTree(wanted))) {
            const left = takeBack(here, tree(base[key]), value, tree(wanted));
            result[key] = Object.keys(left).length === 0 ? base[key] : left;
        } else if (wanted === undefined && isDeepStrictEqual(here, value)) {
            result[key] = base[key];
        }
    }
    return withoutUndefined(result);
}

/**
 * The helper's configuration to hand on: what its administrator wrote, with the addresses and ports that are in force. The
 * configuration in force itself also holds the defaults of the helper's version, images for one, which would be pinned.
 */
export function handOnConfig(written: unknown, inForce: unknown): unknown {
    if (!isTree(written)) return inForce;
    const { api, storage } = tree(tree(inForce)["spec"]);
    const { address, port, k0sApiPort, externalAddress } = tree(api);
    const { peerAddress } = tree(tree(storage)["etcd"]);
    return merge(
        {
            spec: {
                api: withoutUndefined({ address, port, k0sApiPort, externalAddress }),
                storage: { etcd: withoutUndefined({ peerAddress }) },
            },
        },
        written,
    );
}

function withAddresses(config: Tree, address: string): Tree {
    return merge(
        { apiVersion: "k0s.k0sproject.io/v1beta1", kind: "ClusterConfig", ...config },
        { spec: { api: { address }, storage: { type: "etcd", etcd: { peerAddress: address } } } },
    );
}

/** `over` wins; maps are merged, everything else is replaced. */
function merge(base: Tree, over: Readonly<Record<string, unknown>>): Tree {
    const result: Tree = { ...base };
    for (const [key, value] of Object.entries(over)) {
        const before = result[key];
        result[key] = isTree(before) && isTree(value) ? merge(before, value) : value;
    }
    return result;
}

function withoutUndefined(values: Tree): Tree {
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function tree(value: unknown): Tree {
    return isTree(value) ? value : {};
}

function isTree(value: unknown): value is Tree {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
