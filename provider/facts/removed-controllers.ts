import { sharedAddresses } from "../address";

/** On the `kube-system` namespace, which the cluster is known by and which ends with it: an array of these, as JSON. */
export const REMOVED_ANNOTATION = "pulumi-mke/removed-controllers";
/** More controllers than a program lists. */
const KEPT = 16;

/** A controller whose removal of ours came to its end (safety.md 24). */
export interface RemovedController {
    /** All that it was known by: a program's `host` and its own. */
    readonly addresses: readonly string[];
    /** Hexadecimal, like the id of the etcd cluster that it was a member of: a restored one is another. */
    readonly memberId: string;
    readonly etcdClusterId: string;
}

type Annotations = Readonly<Record<string, string>>;

/** What cannot be read is no record. */
export function removedIn(annotations: Annotations): RemovedController[] {
    try {
        const list = JSON.parse(annotations[REMOVED_ANNOTATION] ?? "[]") as unknown;
        return Array.isArray(list) ? list.filter(isRecord) : [];
    } catch {
        return [];
    }
}

function isRecord(entry: unknown): entry is RemovedController {
    const { addresses, memberId, etcdClusterId } = (entry ?? {}) as Partial<Record<keyof RemovedController, unknown>>;
    return Array.isArray(addresses) && typeof memberId === "string" && typeof etcdClusterId === "string";
}

/** The annotation with one more, in place of what was known of its addresses. */
export function withRemoved(annotations: Annotations, removed: RemovedController): string {
    return JSON.stringify([...withoutAddresses(removedIn(annotations), removed.addresses), removed].slice(-KEPT));
}

/** The annotation once a controller joins at these addresses: `null` takes it away; undefined: nothing to change. */
export function withJoined(annotations: Annotations, addresses: readonly string[]): string | null | undefined {
    const before = removedIn(annotations);
    const after = withoutAddresses(before, addresses);
    if (after.length === before.length) return undefined;
    return after.length === 0 ? null : JSON.stringify(after);
}

function withoutAddresses(list: readonly RemovedController[], addresses: readonly string[]): RemovedController[] {
    return list.filter((one) => sharedAddresses(one.addresses, addresses).length === 0);
}

/** True where the controller at that address was taken out of this very etcd cluster. */
export function wasRemoved(list: readonly RemovedController[], address: string, etcdClusterId: string): boolean {
    return list.some(
        (one) => one.etcdClusterId === etcdClusterId && sharedAddresses(one.addresses, [address]).length > 0,
    );
}
