import type { Directories } from "../decide/directories";
import { messageOf } from "../errors";
import { kindOf, type NodeInputs } from "../inputs";
import { completeInputs } from "./check";
import { SCHEMA_VERSION } from "./migrations";
import type { Bag } from "./shape";

/**
 * `joining`: the add pipeline did not reach its end. `degraded`: the last look found drift. `unreachable`: the last look
 * could not reach the host, or nobody answered.
 */
export type NodeStatus = "joining" | "ready" | "degraded" | "unreachable";

/** What was found or made; nothing in it changes by itself, so that a second refresh finds nothing. */
export interface FoundOutputs {
    /** Name of the Node, EtcdMember and ControlNode. */
    readonly nodeName: string;
    readonly status: NodeStatus;
    /** What the last look found, in a sentence; `rebuild: …` where an update would remove the node and add it again. */
    readonly state: string;
    /** What differs from what it should be, a sentence each; empty when ready. */
    readonly drift: readonly string[];
    /** Made by each `create`, written to host and Node; not a secret (safety.md 6). */
    readonly token: string;
    /** True where we put the k0s binary there, so that removal takes it away again. */
    readonly installedBinary: boolean;
    /** UID of the `kube-system` namespace. */
    readonly clusterId?: string | undefined;
    /** `sha256:<hex>` of the CA's public key. */
    readonly caFingerprint?: string | undefined;
    /** etcd member ID, hexadecimal without leading zeros; controllers only. */
    readonly memberId?: string | undefined;
    /** Address of its etcd peer (controllers) or kubelet. */
    readonly peerAddress?: string | undefined;
    readonly k0sVersion?: string | undefined;
    readonly machineId?: string | undefined;
    /** API server a worker joined through, e.g. `https://10.0.0.1:6443`. */
    readonly apiServer?: string | undefined;
    /** What its k0s was last seen to run with, where that is not what the program says; naming just that is an update. */
    readonly directories?: Directories | undefined;
}

/** Outputs: the inputs under their own names (`nodeName` excepted, see below) and what was found. */
export interface NodeOutputs extends Omit<NodeInputs, "nodeName">, FoundOutputs {
    /** The input `nodeName`, kept apart because the output of that name is what the node is really called. */
    readonly requestedNodeName?: string | undefined;
    readonly schemaVersion: number;
}

/** The outputs of a node with these inputs. `inputs` may be the raw bag: what it holds is echoed as it came. */
export function outputsOf(inputs: NodeInputs, found: FoundOutputs): NodeOutputs {
    const { nodeName: requestedNodeName, ...echoed } = inputs;
    return { ...echoed, ...found, requestedNodeName, schemaVersion: SCHEMA_VERSION };
}

/** Inputs that these outputs were made from; complete, also where an older version did not have them all. Never throws. */
export function inputsOf(outs: Bag | NodeOutputs): NodeInputs {
    const { requestedNodeName: nodeName, ...rest } = outs as Bag;
    return completeInputs(kindOf(rest["role"]), { ...rest, nodeName });
}

/** A plain JSON copy: Pulumi fails, after the work is done, on `undefined`, big integers and class instances. */
export function encodeOutputs(outs: object): Record<string, unknown> {
    const text = JSON.stringify(outs, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
    return JSON.parse(text) as Record<string, unknown>;
}

/** The resource's name in the program, from `owner` (organisation/project/stack/name). */
export function resourceName({ owner, host }: { readonly owner?: unknown; readonly host?: unknown }): string {
    const name = typeof owner === "string" ? owner.split("/").slice(3).join("/") : "";
    return name === "" && typeof host === "string" ? host : name;
}

/** What `create` and `update` throw when they leave something behind: Pulumi keeps the resource in state. */
export class InitFailure extends Error {
    readonly id: string;
    readonly properties: Record<string, unknown>;
    /** What the user sees; the engine drops `message` where there is an id. */
    readonly reasons: readonly string[];

    /**
     * `inputs`: the raw bag, whose `__provider` must be kept or no later operation on the resource can run. `outs`: everything
     * known so far (`outputsOf`).
     */
    constructor(failed: {
        readonly id: string;
        readonly inputs: object;
        readonly outs: object;
        readonly error: unknown;
    }) {
        super(messageOf(failed.error), { cause: failed.error });
        this.name = "InitFailure";
        this.id = failed.id;
        this.reasons = [this.message === "" ? "the node is not ready" : this.message];
        this.properties = encodeOutputs({ ...failed.outs, __provider: (failed.inputs as Bag)["__provider"] });
    }
}
