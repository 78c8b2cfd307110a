import type { Etcd, EtcdMembers } from "../../provider/adapters/etcd";
import type { Kube, LeaseObject } from "../../provider/adapters/kube";
import { ConnectionError } from "../../provider/errors";
import type { ControlNodeObject } from "../../provider/facts/cluster";
import type { HostFacts } from "../../provider/facts/host";

export const CLUSTER_ID = "2f0c1c3e-0000-4000-8000-000000000001";
export const ETCD_CLUSTER_ID = 0xabcn;

export const refused = (where: string): ConnectionError =>
    new ConnectionError({ stage: "connecting", host: where, what: "connection refused" });

export const MEMBERS: EtcdMembers["members"] = [1, 2, 3].map((number) => ({
    id: BigInt(number),
    name: `c${number}`,
    peerUrls: [`https://10.0.0.${number}:2380`],
    learner: false,
}));

/** An etcd that answers; whatever is given replaces its answers. */
export function fakeEtcd(
    answers: Partial<Record<keyof Etcd, () => unknown>> = {},
    onClose = (): void => undefined,
): Etcd {
    const own = { memberId: 1n, clusterId: ETCD_CLUSTER_ID, leaderId: 2n, learner: false, version: "3.6.14" };
    return {
        members: async () => ({ clusterId: ETCD_CLUSTER_ID, members: MEMBERS }),
        status: async () => own,
        alarms: async () => [],
        close: onClose,
        ...answers,
    } as unknown as Etcd;
}

export interface FakeKubeAnswers {
    readonly clusterId?: string;
    readonly ready?: boolean;
    readonly lease?: LeaseObject;
    readonly controlNodes?: readonly ControlNodeObject[];
    /** Every question fails with it. */
    readonly failure?: Error;
}

export function fakeKube(answers: FakeKubeAnswers = {}, onClose = (): void => undefined): Kube {
    const { clusterId = CLUSTER_ID, ready = true, lease, controlNodes = [], failure } = answers;
    const answer =
        <T>(value: T) =>
        (): Promise<T> =>
            failure ? Promise.reject(failure) : Promise.resolve(value);
    return {
        clusterId: answer(clusterId),
        isReady: answer(ready),
        lease: answer(lease),
        controlNodes: answer(controlNodes),
        etcdMembers: answer([]),
        nodes: answer([]),
        leases: answer([]),
        now: () => 0,
        hasMke: answer(false),
        close: onClose,
    } as unknown as Kube;
}

/** What a probe finds on a controller that is fine. */
export function controllerFacts(number: number, more: Partial<HostFacts> = {}): HostFacts {
    return {
        address: `10.0.0.${number}`,
        machineId: `machine ${number}`,
        hostName: `C${number}`,
        addresses: [`10.0.0.${number}`, "172.17.0.1"],
        arch: "amd64",
        binary: { path: "/usr/local/bin/k0s", version: "v1.36.3+k0s.2" },
        units: {
            controller: {
                enabled: true,
                active: "active",
                sub: "running",
                restarts: 0,
                args: ["/opt/k0s", "controller"],
            },
            worker: undefined,
        },
        status: {
            state: "answers",
            role: "controller",
            workloads: true,
            singleNode: false,
            version: "v1.36.3+k0s.2",
            dataDir: "/data",
            kubeletRootDir: undefined,
            invocationId: "i",
        },
        ...more,
    } as HostFacts;
}
