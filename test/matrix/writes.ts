import { MKE_CONFIGS } from "../sim/mke";
import type { SimEvent } from "../sim";
import type { World } from "./world";

export const MARKER = "/etc/pulumi-mke/node.json";

/** What a client's write is a part of. */
export type Write =
    | "lock"
    | "mark" // our own file on the host
    | "own" // our annotations on the Node
    | "join" // what puts k0s onto a host, with a token
    | "restart"
    | "drain" // cordon and evictions
    | "note-removed" // our annotation on kube-system
    | "note-leave" // our annotations on an EtcdMember, before the leave
    | "move-leader"
    | "leave"
    | "stop"
    | "delete-object"
    | "delete-node"
    | "delete-control-node"
    | "delete-lease" // the controller's own
    | "reset"
    | "folders"
    | "mke-config"
    | "spread"; // MKE's workloads, over its controllers

/** undefined: nothing that an operation on this node should ever do. */
export function writeOf({ name, target }: World, { kind, what, host, values }: SimEvent): Write | undefined {
    switch (kind) {
        case "etcd-write":
            return what.startsWith("MemberRemove")
                ? "leave"
                : what.startsWith("MoveLeader")
                  ? "move-leader"
                  : undefined;
        case "api-write":
            return apiWrite(name, what, values?.["body"] ?? "");
        case "stream":
            return "join";
        case "program":
            return host === target.name ? programWrite(what, values ?? {}) : HELPER_PROGRAMS[what];
        default:
            return undefined;
    }
}

const HELPER_PROGRAMS: Readonly<Record<string, Write>> = { "token-create": "join", "token-invalidate": "join" };

const API_WRITES: readonly (readonly [request: (name: string) => RegExp, write: Write, body?: RegExp])[] = [
    [() => /^\w+ \S+\/namespaces\/kube-system\/leases(\/pulumi-mke-\S+)?$/, "lock"],
    [() => /^PATCH \S+\/namespaces\/kube-system$/, "note-removed", /"pulumi-mke\/removed-controllers"/],
    [() => /^POST \S+\/eviction$/, "drain"],
    [(name) => new RegExp(`^PATCH \\S+/nodes/${name}$`), "drain", /"unschedulable":true|pulumi-mke\/cordoned/],
    [(name) => new RegExp(`^PATCH \\S+/nodes/${name}$`), "own", /^\{"metadata":/],
    [(name) => new RegExp(`^DELETE \\S+/nodes/${name}$`), "delete-node"],
    [(name) => new RegExp(`^PATCH \\S+/etcdmembers/${name}$`), "leave", /"leave":true/],
    [(name) => new RegExp(`^PATCH \\S+/etcdmembers/${name}$`), "note-leave"],
    [(name) => new RegExp(`^DELETE \\S+/etcdmembers/${name}$`), "delete-object"],
    [(name) => new RegExp(`^DELETE \\S+/controlnodes/${name}$`), "delete-control-node"],
    [(name) => new RegExp(`^DELETE \\S+/leases/k0s-ctrl-${name}$`), "delete-lease"],
    [() => new RegExp(`^\\w+ \\S+/${MKE_CONFIGS.plural}/\\w+$`), "mke-config"],
    [() => /^PATCH \S+\/namespaces\/(mke|k0rdent)\/(deployments|statefulsets)\/\S+$/, "spread"],
];

function apiWrite(name: string, what: string, body: string): Write | undefined {
    return API_WRITES.find(([request, , part]) => request(name).test(what) && (part?.test(body) ?? true))?.[1];
}

const PROGRAM_WRITES: Readonly<Record<string, Write>> = {
    "install-service": "join",
    "upload-begin": "join",
    "upload-finish": "join",
    reset: "reset",
    "clean-up": "folders",
};
const SERVICE_WRITES: Readonly<Record<string, Write>> = {
    enable: "join",
    start: "join",
    restart: "restart",
    disable: "stop",
    stop: "stop",
};

function programWrite(name: string, { ACTION = "", FILE = "", FILES = "" }: Readonly<Record<string, string>>) {
    if (name === "service") return SERVICE_WRITES[ACTION];
    if (name === "write-file") return FILE === MARKER ? "mark" : FILE.startsWith("/etc/k0s/") ? "join" : undefined;
    if (name === "remove-files") return FILES === MARKER ? "mark" : undefined;
    return PROGRAM_WRITES[name];
}
