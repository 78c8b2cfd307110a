import type { PatchOperation } from "../adapters/kube/mke";
import { sameFlags } from "../flags";
import type { NodeInputs, Role } from "../inputs";
import { normalAddress } from "../address";
import { unitAfter } from "./unit-flags";

/** How an add or a removal changes `spec.hosts`. */
export type HostsChange =
    | { readonly kind: "nothing"; readonly why: string }
    | { readonly kind: "patch"; readonly operations: readonly PatchOperation[] }
    | { readonly kind: "refuse"; readonly why: string };

/** `hosts` is `spec.hosts` as it stands, undefined where the field is missing. */
export type DecideHosts = (hosts: readonly unknown[] | undefined, inputs: HostInputs) => HostsChange;

type HostInputs = Pick<
    NodeInputs,
    "host" | "role" | "connection" | "mke" | "nodeName" | "privateAddress" | "installFlags"
>;

/** An entry as far as it is looked at; the rest of it is somebody else's business. */
interface Entry {
    readonly role?: unknown;
    readonly installFlags?: unknown;
    readonly ssh?: {
        readonly address?: unknown;
        readonly keyPath?: unknown;
        readonly bastion?: { readonly address?: unknown; readonly keyPath?: unknown };
    };
}

const PLAIN_CONTROLLER: HostsChange = {
    kind: "nothing",
    why: "MKE has no role for a controller without a kubelet, so MkeConfig does not list it",
};

const NOT_LISTED: HostsChange = { kind: "nothing", why: "not listed" };

/**
 * Appends the host, unless an entry of its address and role is there, whatever else that says. An entry of another role for
 * the same address is somebody's mistake: refused.
 */
export function addHost(hosts: readonly unknown[] | undefined, inputs: HostInputs): HostsChange {
    if (inputs.role === "controller") return PLAIN_CONTROLLER;
    const own = entriesAt(hosts, inputs.host);
    if (own.some(({ entry }) => entry.role === inputs.role)) return { kind: "nothing", why: "listed already" };
    const [other] = own;
    if (other !== undefined) {
        const role = JSON.stringify(other.entry.role);
        return { kind: "refuse", why: `MkeConfig lists ${inputs.host} with role ${role}, not "${inputs.role}"` };
    }
    const keyPath = keyPathFor(hosts ?? [], inputs);
    if (keyPath === undefined) {
        return { kind: "refuse", why: "no entry of MkeConfig says which key file its host is reached with" };
    }
    const value = newEntry(hosts ?? [], inputs, keyPath);
    const operations: PatchOperation[] =
        hosts === undefined
            ? [{ op: "add", path: "/spec/hosts", value: [value] }]
            : [{ op: "add", path: "/spec/hosts/-", value }];
    return { kind: "patch", operations };
}

/** Takes out the entries of that address and role, from the last, so that the others keep their places. */
export function removeHost(
    hosts: readonly unknown[] | undefined,
    { host, role }: Pick<NodeInputs, "host" | "role">,
): HostsChange {
    if (role === "controller") return PLAIN_CONTROLLER;
    const own = entriesAt(hosts, host).filter(({ entry }) => entry.role === role);
    if (own.length === 0) return NOT_LISTED;
    const operations = own
        .reverse()
        .map(({ index }): PatchOperation => ({ op: "remove", path: `/spec/hosts/${index}` }));
    return { kind: "patch", operations };
}

/**
 * Brings `installFlags` of the entries of that address and role to what the program says now: the one field that it can change
 * on a node that stays. `before`: what it may have said earlier. Where the entry has what an add wrote, it gets what an add
 * would write; otherwise flags of others stay in it, as they stay in the service. What is not a list of flags is left alone.
 */
export function changeFlags(before: readonly (readonly string[])[]): DecideHosts {
    return (hosts, { host, role, installFlags }) => {
        if (role === "controller") return PLAIN_CONTROLLER;
        const own = entriesAt(hosts, host).filter(({ entry }) => entry.role === role);
        if (own.length === 0) return NOT_LISTED;
        const operations = own.flatMap(({ entry, index }): PatchOperation[] => {
            const flags = flagsAfter(entry.installFlags ?? [], before, installFlags);
            const path = `/spec/hosts/${index}/installFlags`;
            if (flags === undefined) return [];
            return [flags.length === 0 ? { op: "remove", path } : { op: "add", path, value: flags }];
        });
        return operations.length === 0
            ? { kind: "nothing", why: "its flags are listed already" }
            : { kind: "patch", operations };
    };
}

/** undefined: nothing to change. */
function flagsAfter(
    found: unknown,
    before: readonly (readonly string[])[],
    wanted: readonly string[],
): readonly string[] | undefined {
    if (!isTextList(found) || sameFlags(found, wanted)) return undefined;
    if (before.some((flags) => sameFlags(found, flags))) return [...wanted];
    const settingsOf = (installFlags: readonly string[]) => ({ installFlags, taints: [] });
    const { args } = unitAfter(found, before.map(settingsOf), settingsOf(wanted));
    return args === found ? undefined : args;
}

function isTextList(value: unknown): value is readonly string[] {
    return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function entriesAt(hosts: readonly unknown[] | undefined, host: string): { entry: Entry; index: number }[] {
    return entriesOf(hosts ?? []).filter(({ entry }) => isAddress(entry.ssh?.address, host));
}

function entriesOf(hosts: readonly unknown[]): { entry: Entry; index: number }[] {
    return hosts.map((entry, index) => ({ entry: typeof entry === "object" && entry !== null ? entry : {}, index }));
}

function isAddress(value: unknown, host: string): boolean {
    return typeof value === "string" && normalAddress(value) === normalAddress(host);
}

/**
 * The program's; else that of an entry of the same role, else of any entry: clusters have one key as a rule. "" where the
 * entries do without. undefined: there is none to go by.
 */
function keyPathFor(hosts: readonly unknown[], { mke, role }: HostInputs): string | undefined {
    if (mke.keyPath !== undefined) return mke.keyPath;
    const entries = entriesOf(hosts).map(({ entry }) => entry);
    const named = [...entries.filter((entry) => entry.role === role), ...entries]
        .map(({ ssh }) => ssh?.keyPath)
        .find((path) => typeof path === "string");
    return named ?? (entries.some(({ ssh }) => ssh !== undefined) ? "" : undefined);
}

/** Field names and order of mke4-node-lifecycle.md 6.2. Private keys stay with Pulumi: an entry holds paths only. */
function newEntry(hosts: readonly unknown[], inputs: HostInputs, keyPath: string): object {
    const { host, role, connection, nodeName, privateAddress, installFlags } = inputs;
    const { user, port, proxy } = connection;
    const withKey = (path: string): object => (path === "" ? {} : { keyPath: path });
    const bastion = proxy && {
        ...{ address: proxy.host, user: proxy.user, port: proxy.port },
        ...withKey(bastionKeyPath(hosts, proxy.host) ?? keyPath),
    };
    return {
        role: role satisfies Role,
        ssh: { address: host, user, port, ...withKey(keyPath), ...(bastion && { bastion }) },
        ...(privateAddress !== undefined && { privateAddress: privateAddress.split(",", 1)[0] }),
        ...(nodeName !== undefined && { hostname: nodeName }),
        ...(installFlags.length > 0 && { installFlags: [...installFlags] }),
    };
}

function bastionKeyPath(hosts: readonly unknown[], host: string): string | undefined {
    const bastions = entriesOf(hosts).flatMap(({ entry }) => entry.ssh?.bastion ?? []);
    return bastions
        .filter(({ address }) => isAddress(address, host))
        .map(({ keyPath }) => keyPath)
        .find((path) => typeof path === "string");
}
