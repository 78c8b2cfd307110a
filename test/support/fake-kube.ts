import type { Annotations, Kube, LeaseObject, PodObject } from "../../provider/adapters/kube";
import type { ControlNodeObject, EtcdMemberObject, NodeObject } from "../../provider/facts/cluster";
import { CLUSTER_ID, NOW } from "../decide/build";
import { type Calls, recorded } from "./fake-calls";
import { fakeMke, type MkeObjects } from "./fake-mke";

/** What the API server has; a test may change it at any time. */
export interface KubeObjects {
    nodes: NodeObject[];
    etcdMembers: EtcdMemberObject[];
    controlNodes: ControlNodeObject[];
    pods: PodObject[];
    /** Of `kube-system`. */
    annotations?: Readonly<Record<string, string>>;
    readonly lease?: LeaseObject;
    readonly mke?: MkeObjects;
}

/** An API server that keeps its objects in memory. Evicted pods are gone at once. */
export function fakeKube(calls: Calls, objects: KubeObjects, answers: Partial<Kube> = {}): Kube {
    const without = <T extends { readonly uid: string }>(list: readonly T[], uid: string): T[] =>
        list.filter((object) => object.uid !== uid);
    const changeNode = (name: string, change: (node: NodeObject) => Partial<NodeObject>): void => {
        objects.nodes = objects.nodes.map((node) => (node.name === name ? { ...node, ...change(node) } : node));
    };
    const none = async (): Promise<void> => undefined;
    const own: Kube = {
        clusterId: async () => CLUSTER_ID,
        clusterAnnotations: async () => objects.annotations ?? {},
        annotateCluster: async (annotations) => {
            objects.annotations = { ...objects.annotations, ...annotations } as never;
        },
        isReady: async () => true,
        now: () => NOW,
        nodes: async () => objects.nodes,
        node: async (name) => objects.nodes.find((node) => node.name === name),
        deleteNode: async (_name, uid) => void (objects.nodes = without(objects.nodes, uid)),
        setUnschedulable: async (name, unschedulable, annotations) =>
            changeNode(name, (node) => ({ unschedulable, annotations: annotated(node, annotations) })),
        annotateNode: async (name, annotations) =>
            changeNode(name, (node) => ({ annotations: annotated(node, annotations) })),
        labelNode: none,
        taintNode: async (name, taints) => {
            changeNode(name, () => ({ taints }));
            return true;
        },
        podsOn: async () => objects.pods,
        evict: async ({ uid }) => {
            objects.pods = without(objects.pods, uid);
            return "accepted";
        },
        etcdMembers: async () => objects.etcdMembers,
        patchEtcdMember: async (_name, uid, { leave, annotations }) => {
            const change = (object: EtcdMemberObject): EtcdMemberObject =>
                object.uid === uid
                    ? {
                          ...object,
                          leave: leave ?? object.leave,
                          annotations: { ...object.annotations, ...annotations } as never,
                      }
                    : object;
            objects.etcdMembers = objects.etcdMembers.map(change);
        },
        deleteEtcdMember: async (_name, uid) => void (objects.etcdMembers = without(objects.etcdMembers, uid)),
        controlNodes: async () => objects.controlNodes,
        deleteControlNode: async (_name, uid) => void (objects.controlNodes = without(objects.controlNodes, uid)),
        hasMke: async () => false,
        mke: fakeMke(calls, objects.mke ?? {}),
        lease: async () => objects.lease,
        leases: async () => [],
        createLease: async () => undefined,
        replaceLease: async () => undefined,
        deleteLease: async () => true,
        close: () => undefined,
    };
    const kube = recorded("kube", calls, own, answers, {
        evict: ({ namespace, name }, grace) => `${namespace}/${name} ${grace ?? "as it says"}`,
        setUnschedulable: (name, unschedulable) => `${name} ${unschedulable}`,
        patchEtcdMember: (name, uid, { leave }) =>
            `${name} ${uid} ${leave === undefined ? "annotated" : `leave=${leave}`}`,
    });
    // It asks nobody.
    return { ...kube, now: () => (answers.now === undefined ? NOW : answers.now()) };
}

function annotated(node: NodeObject, annotations: Annotations): NodeObject["annotations"] {
    const all = Object.entries({ ...node.annotations, ...annotations });
    return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}
