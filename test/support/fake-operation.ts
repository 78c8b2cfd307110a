import type { Etcd } from "../../provider/adapters/etcd";
import * as etcdClient from "../../provider/adapters/etcd/client";
import type { Host } from "../../provider/adapters/host";
import type { Kube, LeaseObject } from "../../provider/adapters/kube";
import * as kubeClient from "../../provider/adapters/kube/client";
import { LockError } from "../../provider/errors";
import type { ClusterFacts } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";
import type { NodeInputs } from "../../provider/inputs";
import type { HeldLock } from "../../provider/lock";
import type { HostOperation } from "../../provider/stages/operation";
import { address, blankHost, cluster, TOKEN } from "../decide/build";
import { type Calls, recorded } from "./fake-calls";
import { type EtcdState, fakeEtcd, listed } from "./fake-etcd";
import { fakeHost, type Files } from "./fake-host";
import { emptyMaterial, type Material } from "./fake-material";
import { fakeKube, type KubeObjects } from "./fake-kube";
import { checked } from "./node-bags";

const LEASE: LeaseObject = {
    namespace: "kube-system",
    name: "pulumi-mke-control-plane",
    holder: "us",
    durationSeconds: 60,
    labels: {},
    annotations: {},
    uid: "uid-lease",
    resourceVersion: "7",
    renewTime: "2026-11-29T14:00:00.000000Z",
    acquireTime: "2026-11-29T14:00:00.000000Z",
};

/** A test's whole world: one operation on one node, and everything it can touch. */
export interface Scene {
    readonly operation: HostOperation;
    /** Everything that was asked of anybody, in order. */
    readonly calls: Calls;
    /** Lines of the log. */
    readonly lines: string[];
    /** What the cluster's API server and etcd have now. */
    readonly kube: KubeObjects;
    readonly etcd: EtcdState;
    /** The target's files. */
    readonly files: Files;
    /** The helper's files. */
    readonly helperFiles: Files;
    /** Owners, users, labels and units of the two. */
    readonly material: Material;
    readonly helperMaterial: Material;
    /** From now on the lock is somebody else's. */
    loseLock(): void;
}

export interface SceneOptions {
    /** c3 (default) or w1. */
    readonly name?: string;
    readonly inputs?: Partial<NodeInputs>;
    /** The facts the decision was made on; the servers have the same. Default: c1, c2 and c3, all healthy. */
    readonly cluster?: ClusterFacts;
    readonly hostFacts?: HostFacts;
    readonly config?: unknown;
    readonly apiPort?: number;
    readonly target?: Partial<Host>;
    readonly helper?: Partial<Host>;
    readonly kube?: Partial<Kube>;
    readonly etcd?: Partial<Etcd>;
    readonly lock?: Partial<HeldLock>;
    readonly begunBefore?: boolean;
    /** API servers of the other controllers. */
    readonly others?: Partial<Kube> | ((address: string) => Partial<Kube>);
}

export function scene(options: SceneOptions = {}): Scene {
    const { name = "c3", cluster: clusterFacts = cluster(), hostFacts = blankHost(name) } = options;
    const kind = name.startsWith("w") ? "worker" : "controller";
    const calls: Calls = [];
    const lines: string[] = [];
    const files: Files = new Map();
    const helperFiles: Files = new Map();
    const material = emptyMaterial();
    const helperMaterial = emptyMaterial();
    const kube: KubeObjects = {
        nodes: [...clusterFacts.nodes],
        etcdMembers: [...clusterFacts.etcdMembers],
        controlNodes: [...clusterFacts.controlNodes],
        pods: [],
        lease: LEASE,
    };
    const { etcdClusterId: clusterId, memberId } = clusterFacts.helper;
    const etcd: EtcdState = {
        clusterId,
        memberId,
        leaderId: clusterFacts.leaderId,
        members: clusterFacts.members.map((member) => listed(member)),
    };
    let lost = false;
    const held: HeldLock = {
        prove: async () => {
            if (lost) throw new LockError({ stage: "holding the lock", what: "it is held by somebody else now" });
        },
        stretch: async () => undefined,
        record: async () => undefined,
        forget: () => undefined,
        lease: LEASE,
        found: undefined,
    };
    const operation: HostOperation = {
        id: "operation-1",
        kind,
        inputs: { ...(checked({ host: address(name) }, kind) as unknown as NodeInputs), ...options.inputs },
        log: { line: (text) => lines.push(text) },
        cluster: {
            helper: fakeHost("c1", calls, {
                files: helperFiles,
                material: helperMaterial,
                ...(options.helper && { answers: options.helper }),
            }),
            helperFacts: clusterFacts.helper,
            kube: fakeKube(calls, kube, options.kube),
            etcd: fakeEtcd("etcd", calls, etcd, options.etcd),
            config: options.config ?? {},
            apiPort: options.apiPort ?? 6443,
            kubeAt: (at) =>
                fakeKube([], kube, typeof options.others === "function" ? options.others(at) : options.others),
            close: () => undefined,
        },
        clusterFacts,
        held: recorded("lock", calls, held, options.lock ?? {}, { record: ({ kind: what }) => what }),
        nodeName: name,
        peerAddress: address(name),
        token: TOKEN,
        progress: { hostChanged: false, installedBinary: false },
        begunBefore: options.begunBefore ?? false,
        takingTurnToDrain: (action) => action({ prove: async () => undefined }),
        target: fakeHost(name, calls, {
            facts: hostFacts,
            files,
            material,
            ...(options.target && { answers: options.target }),
        }),
        hostFacts,
    };
    return {
        operation,
        calls,
        lines,
        kube,
        etcd,
        files,
        helperFiles,
        material,
        helperMaterial,
        loseLock: () => void (lost = true),
    };
}

/** The target's own etcd and API server, which the stages dial; undone by what it answers. */
export function ownServers({ operation, calls, etcd, kube }: Scene, own: OwnServers = {}): () => void {
    const state: EtcdState = {
        clusterId: own.clusterId ?? etcd.clusterId,
        memberId: own.memberId ?? 0xf03n,
        leaderId: etcd.leaderId,
        members: [],
    };
    const moveLeader = own.moveLeader ?? (async (to: bigint): Promise<void> => void (etcd.leaderId = to));
    replace(etcdClient, "connectEtcd", async (host: Host) =>
        fakeEtcd(`etcd of ${nameOf(host)}`, calls, state, { moveLeader, ...own.etcd }),
    );
    replace(kubeClient, "connectKube", async () => fakeKube([], kube, own.kube));
    const nameOf = ({ address: at }: Host): string => (at === operation.target.address ? operation.nodeName : at);
    return restoreServers;
}

const real = { connectEtcd: etcdClient.connectEtcd, connectKube: kubeClient.connectKube };

/** Called after every test, of whatever file: the next one meets the real ones. */
export function restoreServers(): void {
    replace(etcdClient, "connectEtcd", real.connectEtcd);
    replace(kubeClient, "connectKube", real.connectKube);
}

export interface OwnServers {
    readonly clusterId?: bigint;
    readonly memberId?: bigint;
    readonly moveLeader?: Etcd["moveLeader"];
    readonly etcd?: Partial<Etcd>;
    readonly kube?: Partial<Kube>;
}

/** The stages dial the target by these functions; a module's exports are properties that can be put back. */
function replace(module: object, name: string, value: unknown): void {
    Object.assign(module, { [name]: value });
}

/** Names of the stages that were started, in order. */
export function stagesOf({ lines }: Scene): string[] {
    return lines.filter((line) => line.endsWith(" …")).map((line) => line.slice(0, -2));
}
