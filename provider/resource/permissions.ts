import { defined } from "../defined";
import type { Connection, NodeInputs, NodeKind } from "../inputs";
import { type Bag, holdsUnknown, isBag } from "./shape";

/**
 * What the program says now of removals that need somebody's word, and of logins. A node that is replaced, or whose removal was
 * refused after its replacement had joined, is deleted with the outputs of an earlier run: without this, no change of the
 * program could ever let that removal happen, and a replacement would need keys that are no longer valid.
 */
interface Said {
    readonly permissions: Permissions;
    /** By host: of the resource itself and of the controllers it names. */
    readonly logins: ReadonlyMap<string, Connection>;
}

type Permissions = Partial<Pick<NodeInputs, "allowStrandedWorkers" | "onUnreachable">>;

const said = new Map<string, Said>();

/** Keeps what checked inputs say; a resource is known by its owner. */
export function rememberPermissions(kind: NodeKind, inputs: Bag): void {
    const { owner, allowStrandedWorkers, onUnreachable } = inputs;
    if (typeof owner !== "string") return;
    const permissions: Permissions = {
        ...(typeof allowStrandedWorkers === "boolean" && { allowStrandedWorkers }),
        ...((onUnreachable === "fail" || onUnreachable === "remove-from-cluster") && { onUnreachable }),
    };
    said.set(keyOf(kind, owner), { permissions, logins: loginsIn(inputs) });
}

/** The inputs of a removal: those in state, and what the program of this process says of the same resource. */
export function withPermissions(kind: NodeKind, inputs: NodeInputs): NodeInputs {
    const now = said.get(keyOf(kind, inputs.owner));
    if (now === undefined) return inputs;
    const { cluster } = inputs;
    const controllers = cluster.controllers.map((controller) => withLogin(controller, now));
    return { ...withLogin(inputs, now), ...now.permissions, cluster: { ...cluster, controllers } };
}

/** For tests: a process that knows nothing yet. */
export function forgetPermissions(): void {
    said.clear();
}

function loginsIn({ host, connection, cluster }: Bag): Map<string, Connection> {
    const listed: unknown = isBag(cluster) ? cluster["controllers"] : undefined;
    const controllers: readonly unknown[] = Array.isArray(listed) ? listed : [];
    return new Map(
        [...controllers, { host, connection }].filter(isLogin).map((login) => [login.host, login.connection]),
    );
}

interface HostLogin {
    readonly host: string;
    readonly connection: Connection;
}

function isLogin(entry: unknown): entry is HostLogin {
    return isBag(entry) && typeof entry["host"] === "string" && isBag(entry["connection"]) && !holdsUnknown(entry);
}

/** The host key stays the one in state: the removal is about the machine that showed it. */
function withLogin<T extends HostLogin>(before: T, { logins }: Said): T {
    const login = logins.get(before.host);
    if (login === undefined) return before;
    const { hostKey: _, ...connection } = login;
    const { hostKey } = before.connection;
    return { ...before, connection: { ...connection, ...defined({ hostKey }) } };
}

function keyOf(kind: NodeKind, owner: string): string {
    return `${kind} ${owner}`;
}
