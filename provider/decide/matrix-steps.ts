import type { NodeKind } from "../inputs";
import type { Verdict } from "./etcd-verdict";

export type Scenario = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;
export type NodeOperation = "add" | "remove";

/** What an add does; everything else is "report, fail". */
export interface AddSteps {
    /**
     * `join`: the happy path. `adopt`: the host is what it should be; only marker, annotation and MkeConfig. `wait-ready`:
     * the same, after the Node is Ready. `restart`: restart the service, wait until the Node is registered and Ready.
     */
    readonly kind: "join" | "adopt" | "wait-ready" | "restart";
    /** Before anything else, delete the EtcdMember of the member that left. */
    readonly cleanStaleObject: boolean;
}

/** Which stages of a removal are done; the pipelines skip what has no object to act on. */
export interface RemoveSteps {
    /** Cordon and drain. */
    readonly drain: boolean;
    /** `leave`: ask and wait. `wait-left`: it was asked for, wait. `wait-joined-false`: it left, wait for the object. */
    readonly leave: "leave" | "wait-left" | "wait-joined-false" | "none";
    /** Delete the EtcdMember, once it says `Joined=False`. */
    readonly deleteObject: boolean;
    readonly deleteNode: boolean;
    /** `reset`: stop, `k0s reset` (best effort), folders. `folders`: folders only. */
    readonly machine: "reset" | "folders" | "none";
    /**
     * `drain-first`: a healthy host is drained while its kubelet lives, then it leaves. `leave-first`: for broken ones the
     * document leaves etcd, deletes the object and only then drains. `object-first`: a healthy host whose member has gone; its
     * object goes before anything else, as the document has it.
     */
    readonly order: "drain-first" | "leave-first" | "object-first";
}

export type Action =
    | { readonly kind: "fail" }
    | { readonly kind: "add"; readonly steps: AddSteps }
    | { readonly kind: "remove"; readonly steps: RemoveSteps };

/** One cell of the document. */
export interface Cell {
    readonly scenario: Scenario;
    /** undefined for workers, and for scenarios that fail before verdicts are computed. */
    readonly verdict: Verdict | undefined;
    readonly kind: NodeKind;
    readonly operation: NodeOperation;
    /** The document's words. */
    readonly words: string;
    readonly action: Action;
}

const NOTHING: RemoveSteps = {
    drain: false,
    leave: "none",
    deleteObject: false,
    deleteNode: false,
    machine: "none",
    order: "drain-first",
};

export const FAIL: Action = { kind: "fail" };

function add(kind: AddSteps["kind"], cleanStaleObject = false): Action {
    return { kind: "add", steps: { kind, cleanStaleObject } };
}

function remove(steps: Partial<RemoveSteps>): Action {
    return { kind: "remove", steps: { ...NOTHING, ...steps } };
}

export const JOIN = add("join");
export const CLEAN_THEN_JOIN = add("join", true);
export const ADOPT = add("adopt");
export const WAIT_READY = add("wait-ready");
export const RESTART = add("restart");

/** Nothing on the host or in the cluster; "de-register from MKEConfig only". */
export const DEREGISTER = remove({});
export const RESET = remove({ machine: "reset" });
export const RESET_AND_NODE = remove({ machine: "reset", deleteNode: true });
export const FOLDERS = remove({ machine: "folders" });

type Etcd = Pick<RemoveSteps, "leave" | "deleteObject">;

/** What is left to do in etcd, by verdict. The object always goes, after `Joined=False`, where there is one. */
export const NO_ETCD: Etcd = { leave: "none", deleteObject: false };
export const LEAVE: Etcd = { leave: "leave", deleteObject: true };
export const WAIT_LEFT: Etcd = { leave: "wait-left", deleteObject: true };
export const WAIT_JOINED_FALSE: Etcd = { leave: "wait-joined-false", deleteObject: true };
export const DELETE_OBJECT: Etcd = { leave: "none", deleteObject: true };

/** The whole removal of a node whose k0s runs: drained while its kubelet lives. */
export const happyPath = (etcd: Etcd): Action =>
    remove({ ...etcd, drain: true, deleteNode: true, machine: "reset", order: orderOf(etcd) });

/** The same without cordon and drain. */
export const happyPathUndrained = (etcd: Etcd): Action =>
    remove({ ...etcd, deleteNode: true, machine: "reset", order: orderOf(etcd) });

/** Of a node whose k0s runs: what is left of a member that went already comes before its drain. */
export function orderOf({ leave, deleteObject }: Etcd): RemoveSteps["order"] {
    return deleteObject && (leave === "none" || leave === "wait-joined-false") ? "object-first" : "drain-first";
}

/** Scenario 6: out of etcd first, then cordon, drain and reset; the Node goes too, as its row without etcd says. */
export const brokenRegistered = (etcd: Etcd): Action =>
    remove({ ...etcd, drain: true, deleteNode: true, machine: "reset", order: "leave-first" });

/** Scenario 7, and what is left to do in 0 and 1: out of etcd, then reset. */
export const brokenUnregistered = (etcd: Etcd): Action => remove({ ...etcd, machine: "reset", order: "leave-first" });

/** Scenario 10. */
export const leftovers = (etcd: Etcd): Action => remove({ ...etcd, machine: "folders", order: "leave-first" });
