import { defined } from "../defined";
import {
    type ClusterFacts,
    type EtcdMemberObject,
    type Member,
    memberIdFromHex,
    memberIdToHex,
} from "../facts/cluster";
import { sharedAddresses } from "../address";
import { describeMember } from "./cluster-health";
import { cellFor } from "./matrix";
import { outcomeOf, strictest } from "./strictest";

/** On an EtcdMember: the ID (hex) we asked to leave. It outlives a revoked `spec.leave` (k0s#8141). */
export const LEAVE_ANNOTATION = "pulumi-mke/leave-member-id";
/** On an EtcdMember: the id of the operation that asked for the leave. */
export const LEAVE_OPERATION_ANNOTATION = "pulumi-mke/operation";

/** The document's names, and its order of mention in scenario 2. */
export const VERDICTS = [
    "VerdictClean",
    "VerdictHealthy",
    "VerdictLeaveRequested",
    "VerdictLeftCRNotUpdated",
    "VerdictMemberLeftCRNeedsCleanup",
    "VerdictHazardCRMissing",
    "VerdictOOBRemovalStaleCR",
    "VerdictCorruptedRemoval",
    "VerdictCRStatusNeverWritten",
    "VerdictCRStatusStale",
    "VerdictUnknown",
] as const;

export type Verdict = (typeof VERDICTS)[number];

/** Whom a verdict is about. */
export interface Subject {
    /** Every address of the machine. */
    readonly addresses: readonly string[];
    /** Lower-case names its objects may carry: the Node's and the host's. */
    readonly nodeName: string;
    readonly hostName?: string;
    /** From state, where the node has been seen before. */
    readonly memberId?: bigint;
}

export interface VerdictReport {
    readonly verdict: Verdict;
    readonly member?: Member;
    readonly object?: EtcdMemberObject;
    readonly evidence: readonly string[];
    /** True where every normal join or leave passes through it: look again for a bounded time before believing it. */
    readonly passing?: boolean;
    /** Of what there is more than one, so that none of them may be touched. */
    readonly several?: "members" | "objects";
}

/**
 * Etcd's list (what counts) against the EtcdMember objects (what is intended): mke4-node-lifecycle.md 2.2. A host has one member
 * and one object. Where more are found at its addresses, the strictest of their verdicts is given if it fails; otherwise
 * nobody can tell which of them is meant, which fails too.
 */
export function verdictFor(subject: Subject, cluster: ClusterFacts): VerdictReport {
    const members = cluster.members.filter((member) => isMemberOf(member, subject));
    const ids = [...members.map((member) => member.id), ...(subject.memberId === undefined ? [] : [subject.memberId])];
    const objects = objectsOf(subject, ids, cluster.etcdMembers);
    const evidence = [...describeMembers(members, subject), ...describeObjects(objects)];
    if (isElsewhere(members, subject)) return { verdict: "VerdictUnknown", evidence };
    const [one, ...others] = pairsOf(members, objects);
    if (others.length > 0) {
        const several = members.length > 1 ? "members" : "objects";
        return { ...judgeSeveral([one, ...others]), evidence, several };
    }
    return { ...judge(one), evidence, ...one };
}

/** A member and the object that is about it. */
interface Pair {
    readonly member?: Member;
    readonly object?: EtcdMemberObject;
}

/** An object belongs to the member with its ID; where there is one of each, to that, whatever ID it has. */
function pairsOf(members: readonly Member[], objects: readonly EtcdMemberObject[]): readonly [Pair, ...Pair[]] {
    const [member] = members;
    const [object] = objects;
    if (members.length <= 1 && objects.length <= 1) {
        return [defined({ member, object })];
    }
    const known = new Set(members.map(({ id }) => id));
    const pairs = members.flatMap((one): Pair[] => {
        const own = objects.filter(({ memberId }) => memberId === one.id);
        return own.length === 0 ? [{ member: one }] : own.map((its) => ({ member: one, object: its }));
    });
    const alone = objects.filter(({ memberId }) => memberId === undefined || !known.has(memberId));
    const [first = {}, ...others] = [...pairs, ...alone.map((its): Pair => ({ object: its }))];
    return [first, ...others];
}

/** In which cell the verdicts are compared: one where only the six fail that fail everywhere. */
const COMPARED_IN = [6, "remove"] as const;

function judgeSeveral(pairs: readonly [Pair, ...Pair[]]): Judgement {
    const [first, ...others] = pairs;
    const [one, ...rest] = [judge(first), ...others.map(judge)] as const;
    const verdict = strictest([one.verdict, ...rest.map((other) => other.verdict)], ...COMPARED_IN);
    const isFailing = outcomeOf(cellFor(COMPARED_IN[0], verdict, "controller", COMPARED_IN[1])) === "fail";
    const passing = [one, ...rest].some((judged) => judged.passing === true);
    return { verdict: isFailing ? verdict : "VerdictUnknown", ...(passing ? { passing } : {}) };
}

function judge({ member, object }: Pair): Judgement {
    return member === undefined ? judgeAbsent(object) : judgePresent(member, object);
}

/** True where `LEAVE_ANNOTATION` names the ID the object carries now: the leave was ours, and of this incarnation. */
export function leaveWasOurs({ annotations, memberId }: Pick<EtcdMemberObject, "annotations" | "memberId">): boolean {
    const asked = annotations[LEAVE_ANNOTATION];
    if (asked === undefined || memberId === undefined || !/^[0-9a-f]{1,16}$/i.test(asked)) return false;
    return memberIdFromHex(asked) === memberId;
}

type Judgement = Pick<VerdictReport, "verdict" | "passing">;

function judgePresent(member: Member, object: EtcdMemberObject | undefined): Judgement {
    // A learner has no object until it is promoted, and a fresh voter none for some seconds more.
    if (object === undefined) return { verdict: "VerdictHazardCRMissing", passing: true };
    if (isUnwritten(object)) return { verdict: "VerdictCRStatusNeverWritten", passing: true };
    // The old ID stays for 15 s after a rejoin; Joined=False may come just before etcd drops the member.
    if (object.memberId !== member.id || object.joined === "False") {
        return { verdict: "VerdictCRStatusStale", passing: true };
    }
    if (object.leave) return { verdict: "VerdictLeaveRequested" };
    if (member.learner || member.name === "") return { verdict: "VerdictUnknown", passing: true };
    return { verdict: "VerdictHealthy" };
}

/** Open rows of the derivation are answered by the verdict that fails. */
function judgeAbsent(object: EtcdMemberObject | undefined): Judgement {
    if (object === undefined) return { verdict: "VerdictClean" };
    if (isUnwritten(object)) return { verdict: "VerdictCRStatusNeverWritten", passing: true };
    const ours = leaveWasOurs(object);
    if (object.joined === "True") {
        if (object.leave && ours) return { verdict: "VerdictLeftCRNotUpdated" };
        return { verdict: object.leave || ours ? "VerdictCorruptedRemoval" : "VerdictOOBRemovalStaleCR" };
    }
    if (object.leave && ours) return { verdict: "VerdictMemberLeftCRNeedsCleanup" };
    return { verdict: ours ? "VerdictCorruptedRemoval" : "VerdictOOBRemovalStaleCR" };
}

function isUnwritten({ joined, memberId }: EtcdMemberObject): boolean {
    return joined === undefined || joined === "Unknown" || memberId === undefined;
}

function isMemberOf(member: Member, { addresses, memberId }: Subject): boolean {
    return member.id === memberId || sharedAddresses(member.peerHosts, addresses).length > 0;
}

/** The member that state knows, found at an address that is not the subject's. */
function isElsewhere(members: readonly Member[], { addresses }: Subject): boolean {
    return members.some(({ peerHosts }) => sharedAddresses(peerHosts, addresses).length === 0);
}

/** By address and ID; an object found by name alone counts only where it says nothing of another address or ID. */
function objectsOf(
    { addresses, nodeName, hostName }: Subject,
    ids: readonly bigint[],
    objects: readonly EtcdMemberObject[],
): EtcdMemberObject[] {
    const names = [nodeName, ...(hostName === undefined ? [] : [hostName])];
    return objects.filter(({ name, peerAddress, memberId }) => {
        if (peerAddress !== undefined && sharedAddresses([peerAddress], addresses).length > 0) return true;
        if (memberId !== undefined && ids.includes(memberId)) return true;
        return names.includes(name) && peerAddress === undefined;
    });
}

function describeMembers(members: readonly Member[], { addresses, memberId }: Subject): string[] {
    if (members.length === 0) return [`etcd lists no member at ${addresses.join(", ")}`];
    return members.map((member) => {
        const kind = member.name === "" ? "an unstarted member" : member.learner ? "a learner" : "a voter";
        const other =
            memberId === undefined || memberId === member.id ? "" : `, not ${memberIdToHex(memberId)} as in state`;
        return `etcd lists ${kind} ${describeMember(member)}${other}`;
    });
}

function describeObjects(objects: readonly EtcdMemberObject[]): string[] {
    if (objects.length === 0) return ["no EtcdMember belongs to it"];
    return objects.map((object) => {
        const id = object.memberId === undefined ? "no member ID" : `member ID ${memberIdToHex(object.memberId)}`;
        const asked = object.annotations[LEAVE_ANNOTATION];
        const annotation = asked === undefined ? "" : `, annotated as left with ${asked}`;
        const joined = `Joined=${object.joined ?? "never written"}`;
        const leave = object.leave ? ", leave asked for" : "";
        return `EtcdMember ${object.name} has ${id} at ${object.peerAddress ?? "no address"}, ${joined}${leave}${annotation}`;
    });
}
