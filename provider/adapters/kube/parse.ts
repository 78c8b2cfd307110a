import {
    type ControlNodeObject,
    type EtcdMemberObject,
    memberIdFromHex,
    type NodeObject,
    type NodeTaint,
} from "../../facts/cluster";
import type { LeaseObject, PodObject } from "./index";

/** The API's JSON as it comes; every field may be missing. */
export interface RawMeta {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly { readonly kind: string; readonly controller?: boolean }[];
}

export interface RawObject {
    readonly metadata?: RawMeta;
}

interface RawCondition {
    readonly type?: string;
    readonly status?: string;
    readonly message?: string;
    readonly lastTransitionTime?: string | null;
}

interface RawAddress {
    readonly type?: string;
    readonly address: string;
}

interface RawNode extends RawObject {
    readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly NodeTaint[] };
    readonly status?: {
        readonly addresses?: readonly RawAddress[];
        readonly conditions?: readonly RawCondition[];
        readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
        readonly nodeInfo?: { readonly machineID?: string };
    };
}

interface RawEtcdMember extends RawObject {
    readonly spec?: { readonly leave?: boolean };
    readonly status?: {
        readonly memberID?: string;
        readonly peerAddress?: string;
        readonly message?: string;
        readonly conditions?: readonly RawCondition[];
    };
}

interface RawControlNode extends RawObject {
    readonly status?: { readonly addresses?: readonly RawAddress[]; readonly k0sVersion?: string };
}

interface RawPod extends RawObject {
    readonly status?: { readonly phase?: string };
}

export interface RawLease extends RawObject {
    readonly spec?: {
        readonly holderIdentity?: string;
        readonly leaseDurationSeconds?: number;
        readonly acquireTime?: string;
        readonly renewTime?: string;
    };
}

/** What the condition may say; anything else counts as not written. */
const JOINED = ["True", "False", "Unknown"] as const;

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

export function parseNode(raw: RawObject): NodeObject {
    const { metadata, spec, status } = raw as RawNode;
    const ready = status?.conditions?.find((condition) => condition.type === "Ready");
    return {
        name: metadata?.name ?? "",
        uid: metadata?.uid ?? "",
        ready: ready?.status === "True",
        readySince: milliseconds(ready?.lastTransitionTime),
        unschedulable: spec?.unschedulable ?? false,
        addresses: addressesOf(status?.addresses),
        machineId: status?.nodeInfo?.machineID ?? "",
        kubeletPort: status?.daemonEndpoints?.kubeletEndpoint?.Port,
        labels: metadata?.labels ?? {},
        annotations: metadata?.annotations ?? {},
        taints: spec?.taints ?? [],
        resourceVersion: metadata?.resourceVersion ?? "",
    };
}

/** An object's message is its condition's: `status.message` outlives what it speaks of (k0s-interfaces.md 3.1). */
export function parseEtcdMember(raw: RawObject): EtcdMemberObject {
    const { metadata, spec, status } = raw as RawEtcdMember;
    const joined = status?.conditions?.find((condition) => condition.type === "Joined");
    return {
        name: metadata?.name ?? "",
        uid: metadata?.uid ?? "",
        leave: spec?.leave ?? false,
        memberId: parseMemberId(status?.memberID),
        peerAddress: status?.peerAddress,
        joined: JOINED.find((one) => one === joined?.status),
        message: joined?.message ?? status?.message ?? "",
        annotations: metadata?.annotations ?? {},
    };
}

export function parseControlNode(raw: RawObject): ControlNodeObject {
    const { metadata, status } = raw as RawControlNode;
    return {
        name: metadata?.name ?? "",
        uid: metadata?.uid ?? "",
        addresses: addressesOf(status?.addresses),
        k0sVersion: status?.k0sVersion,
    };
}

export function parsePod(raw: RawObject): PodObject {
    const { metadata, status } = raw as RawPod;
    return {
        namespace: metadata?.namespace ?? "",
        name: metadata?.name ?? "",
        uid: metadata?.uid ?? "",
        phase: status?.phase ?? "",
        ownerKind: metadata?.ownerReferences?.find((owner) => owner.controller === true)?.kind,
        mirror: metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined,
        deleting: metadata?.deletionTimestamp !== undefined,
        finalizers: metadata?.finalizers ?? [],
    };
}

/** A Lease without a holder has holder "". */
export function parseLease(raw: RawObject): LeaseObject {
    const { metadata, spec } = raw as RawLease;
    return {
        namespace: metadata?.namespace ?? "",
        name: metadata?.name ?? "",
        uid: metadata?.uid ?? "",
        resourceVersion: metadata?.resourceVersion ?? "",
        holder: spec?.holderIdentity ?? "",
        durationSeconds: spec?.leaseDurationSeconds ?? 0,
        acquireTime: spec?.acquireTime ?? "",
        renewTime: spec?.renewTime ?? "",
        labels: metadata?.labels ?? {},
        annotations: metadata?.annotations ?? {},
    };
}

/** RFC 3339 with the microseconds a Lease wants. */
export function microTime(date: Date): string {
    return date.toISOString().replace(/Z$/, "000Z");
}

function parseMemberId(hex: string | undefined): bigint | undefined {
    return hex !== undefined && /^[0-9a-f]+$/i.test(hex) ? memberIdFromHex(hex) : undefined;
}

/** Without host names: another machine may have the same one, and a host may be reached by it (safety.md 5). */
function addressesOf(addresses: readonly RawAddress[] | undefined): string[] {
    return (addresses ?? []).filter(({ type }) => type !== "Hostname").map(({ address }) => address);
}

function milliseconds(time: string | null | undefined): number {
    return time ? Date.parse(time) : 0;
}
