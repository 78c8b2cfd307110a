import { type Machine, on } from "./machines";

/** What a test sees of the cluster by itself, with etcdctl and kubectl on a machine, and not through the provider. */
export interface SeenMember {
    readonly id: string;
    readonly name: string;
    readonly peer: string;
    readonly learner: boolean;
    readonly leader: boolean;
}

const ETCDCTL =
    "etcdctl --endpoints=https://127.0.0.1:2379 --cacert=/var/lib/k0s/pki/etcd/ca.crt " +
    "--cert=/var/lib/k0s/pki/apiserver-etcd-client.crt --key=/var/lib/k0s/pki/apiserver-etcd-client.key";

/** The command that asks the etcd of the machine it runs on. */
export function etcdctl(command: string): string {
    return `${ETCDCTL} ${command}`;
}

interface MemberList {
    readonly members: readonly { ID: string; name?: string; peerURLs: string[]; isLearner?: boolean }[];
}

export interface SeenEtcd {
    readonly clusterId: string;
    readonly members: readonly SeenMember[];
}

/** What the etcd of that machine says; fails where none serves. */
export async function etcdSeenFrom(machine: Machine): Promise<SeenEtcd> {
    const asked = `${etcdctl("member list -w json")} && ${etcdctl("endpoint status -w json")}`;
    const [list = "", status = ""] = (await on(machine, asked)).split("\n");
    const leader = hexadecimalIn(status, "leader");
    const { members } = JSON.parse(quoteIds(list)) as MemberList;
    return {
        clusterId: hexadecimalIn(list, "cluster_id"),
        members: members.map(({ ID, name = "", peerURLs, isLearner = false }) => ({
            id: ID,
            name,
            peer: peerURLs.join(","),
            learner: isLearner,
            leader: ID === leader,
        })),
    };
}

export async function membersSeenFrom(machine: Machine): Promise<SeenMember[]> {
    return [...(await etcdSeenFrom(machine)).members];
}

/** 64-bit numbers do not survive JSON.parse. */
function quoteIds(json: string): string {
    return json.replace(/"ID":\s*(\d+)/g, (_all, decimal: string) => `"ID":"${BigInt(decimal).toString(16)}"`);
}

function hexadecimalIn(json: string, key: string): string {
    const decimal = new RegExp(`"${key}":\\s*(\\d+)`).exec(json)?.[1];
    return decimal === undefined ? "" : BigInt(decimal).toString(16);
}

/** Moves etcd leadership to the machine at that address, from wherever it is. */
export async function makeLeader(machines: readonly Machine[], target: Machine): Promise<void> {
    const [first] = machines;
    if (first === undefined) throw new Error("no machine to ask");
    const members = await membersSeenFrom(first);
    const wanted = members.find(({ peer }) => peer.includes(`//${target.address}:`));
    const leader = members.find((member) => member.leader);
    const asked = machines.find(({ address }) => leader?.peer.includes(`//${address}:`));
    if (wanted === undefined || asked === undefined) throw new Error("no such member");
    if (wanted.leader) return;
    await on(asked, etcdctl(`move-leader ${wanted.id}`));
}

export async function kubectl(machine: Machine, args: string): Promise<KubeList> {
    return JSON.parse(await on(machine, `k0s kubectl ${args} -o json`)) as KubeList;
}

export interface KubeList {
    readonly items: readonly {
        readonly metadata: {
            readonly name: string;
            readonly uid: string;
            readonly creationTimestamp: string;
            readonly deletionTimestamp?: string;
            readonly annotations?: Record<string, string>;
            readonly labels?: Record<string, string>;
        };
        readonly spec?: {
            readonly leave?: boolean;
            readonly nodeName?: string;
            readonly unschedulable?: boolean;
        };
        readonly status?: {
            readonly conditions?: readonly { type: string; status: string; lastTransitionTime: string }[];
            readonly memberID?: string;
        };
    }[];
}

export async function namesOf(machine: Machine, kind: string): Promise<string[]> {
    return (await kubectl(machine, `get ${kind}`)).items.map(({ metadata }) => metadata.name).sort();
}

export async function readyNodes(machine: Machine): Promise<string[]> {
    const { items } = await kubectl(machine, "get nodes");
    return items
        .filter(({ status }) =>
            status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"),
        )
        .map(({ metadata }) => metadata.name)
        .sort();
}

/** When that Node's Ready condition last changed, and to what: the same twice means that it did not change in between. */
export async function readySince(machine: Machine, node: string): Promise<string> {
    const { items } = await kubectl(machine, "get nodes");
    const conditions = items.find(({ metadata }) => metadata.name === node)?.status?.conditions;
    const ready = conditions?.find(({ type }) => type === "Ready");
    return `${ready?.status} since ${ready?.lastTransitionTime}`;
}

export interface SeenObject {
    readonly name: string;
    readonly memberId: string | undefined;
    readonly joined: string | undefined;
    readonly leave: boolean;
}

/** The EtcdMember objects, which say what k0s was asked for and what it last wrote. */
export async function etcdMembersSeenFrom(machine: Machine): Promise<SeenObject[]> {
    const { items } = await kubectl(machine, "get etcdmembers");
    return items.map(({ metadata, spec, status }) => ({
        name: metadata.name,
        memberId: status?.memberID,
        joined: status?.conditions?.find(({ type }) => type === "Joined")?.status,
        leave: spec?.leave ?? false,
    }));
}

/** Paths and units of k0s that are left on a machine; empty after a clean removal. */
export async function tracesOn(machine: Machine): Promise<string[]> {
    const script = [
        "ls -d /etc/systemd/system/k0s*.service /etc/k0s/k0stoken /etc/k0s/k0s.yaml /etc/pulumi-mke /run/k0s 2>/dev/null",
        "ls -d /var/lib/k0s/* 2>/dev/null",
        "pgrep -fa '/usr/local/bin/k0s|kubelet|kube-apiserver' | grep -v pgrep",
        "true",
    ].join("; ");
    return (await on(machine, script)).split("\n").filter((line) => line !== "");
}

export function memberTable(members: readonly SeenMember[]): string {
    return members
        .map(
            ({ id, name, peer, learner, leader }) =>
                `  ${id.padEnd(16)} ${name.padEnd(6)} ${peer} ${learner ? "learner" : leader ? "leader" : "voter"}`,
        )
        .join("\n");
}
