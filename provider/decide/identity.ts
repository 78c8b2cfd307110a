import { defined } from "../defined";
import type { HostFacts, HostMarker } from "../facts/host";
import type { NodeInputs } from "../inputs";

export type ClusterIdentity = "this" | "another" | "none" | "unreadable";

/** Which cluster the operation is about. */
export interface ClusterPins {
    /** `sha256:<hex>` of the CA's public key. */
    readonly caFingerprint: string;
    /** UID of the `kube-system` namespace. */
    readonly clusterId: string;
}

/**
 * Which cluster a host belongs to, by the CA it holds: a controller's in `pki/`, a worker's in `kubelet.conf`. An older k0s
 * (1.32 and before) left `pki/ca.crt` on workers too; it counts only where `kubelet.conf` says nothing.
 */
export function whichCluster(host: HostFacts, { caFingerprint }: Pick<ClusterPins, "caFingerprint">): ClusterIdentity {
    const { pki, kubelet, unreadable } = host.ca;
    const found = isController(host) ? pki : (kubelet ?? pki);
    if (found !== undefined) return found === caFingerprint ? "this" : "another";
    return unreadable ? "unreadable" : "none";
}

/** By what is installed, what runs and what etcd left: never by what somebody wants it to be. */
export function isController({ units, status, data }: HostFacts): boolean {
    if (units.controller !== undefined || data.etcdMember || data.etcdDatabase) return true;
    return status.state === "answers" && status.role === "controller";
}

/** safety.md 4: our marker, or our cluster's CA together with the machine id in state. */
export function isOurs(
    host: HostFacts,
    state: { readonly machineId?: string; readonly token?: string } | undefined,
    cluster: ClusterPins,
): { readonly ours: boolean; readonly why: string } {
    if (isOtherMachine(host, state)) {
        return { ours: false, why: `it is machine ${host.machineId}, not ${state?.machineId} as in state` };
    }
    if (isOurMarker(host, state, cluster)) return { ours: true, why: "it carries our marker" };
    const sameMachine = host.machineId !== "" && host.machineId === state?.machineId;
    if (sameMachine && whichCluster(host, cluster) === "this") {
        return { ours: true, why: "it holds this cluster's CA and is the machine in state" };
    }
    return { ours: false, why: "it carries neither our marker nor this cluster's CA with the machine id in state" };
}

/** True where state knows the machine and this is another one. */
export function isOtherMachine(host: HostFacts, state: { readonly machineId?: string } | undefined): boolean {
    const known = state?.machineId;
    return known !== undefined && known !== "" && host.machineId !== known;
}

function isOurMarker(
    host: HostFacts,
    state: { readonly token?: string } | undefined,
    { clusterId }: ClusterPins,
): boolean {
    const marker = markerOf(host);
    if (marker === undefined || marker.clusterId !== clusterId) return false;
    return state?.token === undefined || marker.token === state.token;
}

/** The marker, unless it came with a copied disk and names another machine. */
export function markerOf({ marker, machineId }: HostFacts): HostMarker | undefined {
    return marker?.machineId === machineId ? marker : undefined;
}

/** Whose a node is, and what an add may do with it (safety.md 6). */
export interface Ownership {
    readonly whose: "mine" | "unmarked" | "other";
    /** `same`: the marks carry our token. `other`: they carry another one. `unknown`: nothing to compare. */
    readonly token: "same" | "other" | "unknown";
    readonly decision: "proceed" | "adopt" | "take-over" | "refuse";
    /** One clause for the log or the error. */
    readonly why: string;
    /** Where a refusal has another way out than the runbook's. */
    readonly advice?: string;
}

export interface Mark {
    readonly owner: string | undefined;
    readonly token: string | undefined;
}

export interface Claim {
    readonly owner: string;
    /** Absent in a `create`, which makes its own. */
    readonly token?: string;
    readonly adopt: NodeInputs["adopt"];
}

/** Host marker and Node annotation against the claim. Our token makes a node ours even where the owner was renamed. */
export function ownership(
    marker: Pick<HostMarker, "owner" | "token"> | undefined,
    annotation: Mark | undefined,
    claim: Claim,
): Ownership {
    const marks = [marker, annotation].filter(
        (mark): mark is Mark => mark?.owner !== undefined || mark?.token !== undefined,
    );
    if (marks.length === 0) return unmarked(claim);
    const foreign = marks.find((mark) => !isMine(mark, claim));
    if (foreign !== undefined) return someoneElses(foreign, claim);
    const token = compareTokens(marks, claim);
    return { whose: "mine", token, decision: "proceed", why: `it is marked as ours, ${claim.owner}` };
}

function isMine({ owner, token }: Mark, claim: Claim): boolean {
    return owner === claim.owner || (claim.token !== undefined && token === claim.token);
}

function compareTokens(marks: readonly Mark[], claim: Claim): Ownership["token"] {
    const tokens = marks.flatMap(({ token }) => (token === undefined ? [] : [token]));
    if (claim.token === undefined || tokens.length === 0) return "unknown";
    return tokens.every((token) => token === claim.token) ? "same" : "other";
}

function unmarked({ adopt }: Claim): Ownership {
    const common = { whose: "unmarked", token: "unknown" } as const;
    return adopt === "never"
        ? { ...common, decision: "refuse", why: "it carries no mark of an owner, and adopt is never" }
        : { ...common, decision: "adopt", why: "it carries no mark of an owner" };
}

function someoneElses({ owner }: Mark, claim: Claim): Ownership {
    const { adopt } = claim;
    const common = { whose: "other", token: "other" } as const;
    const why = `it belongs to ${owner ?? "somebody else"}`;
    return adopt === "takeOver"
        ? { ...common, decision: "take-over", why }
        : {
              ...common,
              decision: "refuse",
              why: `${why}, and adopt is ${adopt}`,
              ...defined({ advice: owner === undefined ? undefined : renamedAdvice(owner, claim.owner) }),
          };
}

/** A resource that the program renames, or moves into a component, is another one to Pulumi unless an alias says otherwise. */
function renamedAdvice(owner: string, claiming: string): string | undefined {
    const [stack, name] = placeOf(owner);
    if (stack !== placeOf(claiming)[0]) return undefined;
    const alias = JSON.stringify(name);
    return (
        `It is the resource ${alias} of this very stack. If the program gave that one another name, tell Pulumi so with the option ` +
        `aliases: [{ name: ${alias} }], and after a move into a component [{ name: ${alias}, parent: pulumi.rootStackResource }].`
    );
}

/** organisation/project/stack, and the name of the resource. */
function placeOf(owner: string): readonly [string, string] {
    const parts = owner.split("/");
    return [parts.slice(0, 3).join("/"), parts.slice(3).join("/")];
}
