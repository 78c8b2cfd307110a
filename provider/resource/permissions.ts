import type { NodeInputs } from "../inputs";
import type { NodeKind } from "./schema";
import type { Bag } from "./shape";

/**
 * What the program says now of removals that need somebody's word. A node that is replaced, or whose removal was refused
 * after its replacement had joined, is deleted with the outputs of an earlier run: without this, no change of the program
 * could ever let that removal happen.
 */
type Permissions = Partial<Pick<NodeInputs, "allowStrandedWorkers" | "onUnreachable">>;

const said = new Map<string, Permissions>();

/** Keeps what checked inputs say; a resource is known by its owner. */
export function rememberPermissions(kind: NodeKind, { owner, allowStrandedWorkers, onUnreachable }: Bag): void {
    if (typeof owner !== "string") return;
    said.set(keyOf(kind, owner), {
        ...(typeof allowStrandedWorkers === "boolean" && { allowStrandedWorkers }),
        ...((onUnreachable === "fail" || onUnreachable === "remove-from-cluster") && { onUnreachable }),
    });
}

/** The inputs of a removal: those in state, and what the program of this process says of the same resource. */
export function withPermissions(kind: NodeKind, inputs: NodeInputs): NodeInputs {
    return { ...inputs, ...said.get(keyOf(kind, inputs.owner)) };
}

/** For tests: a process that knows nothing yet. */
export function forgetPermissions(): void {
    said.clear();
}

function keyOf(kind: NodeKind, owner: string): string {
    return `${kind} ${owner}`;
}
