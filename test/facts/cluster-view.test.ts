import assert from "node:assert/strict";
import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, it } from "mocha";
import type { Kube, LeaseObject } from "../../provider/adapters/kube";
import { Deadline } from "../../provider/deadline";
import { ApiError, ConnectionError, type MkeError, TimeoutError } from "../../provider/errors";
import type { ControlNodeObject, HelperFacts, Member } from "../../provider/facts/cluster";
import { apiAddresses, hostOf, readCluster, type ViewOptions } from "../../provider/facts/cluster-view";
import type { ClusterConnection } from "../../provider/facts/controller";
import { CLUSTER_ID, ETCD_CLUSTER_ID, fakeEtcd, fakeKube, type FakeKubeAnswers, MEMBERS, refused } from "./fakes";

const LEASE = { namespace: "kube-system", name: "l", uid: "u", holder: "me", resourceVersion: "100" } as LeaseObject;
const controlNode = (name: string, ...addresses: string[]): ControlNodeObject => ({
    name,
    uid: name,
    addresses,
    k0sVersion: undefined,
});

interface Scene {
    /** What each address answers; the helper's loopback is "127.0.0.1". Nobody listens elsewhere. */
    readonly servers?: Readonly<Record<string, FakeKubeAnswers>>;
    readonly etcd?: ReturnType<typeof fakeEtcd>;
    readonly asked?: string[];
    readonly closed?: string[];
}

function connectionTo({ servers = {}, etcd = fakeEtcd(), asked = [], closed = [] }: Scene): ClusterConnection {
    const kubeAt = (address: string): Kube => {
        asked.push(address);
        return fakeKube(servers[address] ?? { failure: refused(address) }, () => closed.push(address));
    };
    return {
        helper: { address: "10.0.0.1" },
        helperFacts: {
            address: "10.0.0.1",
            memberId: 1n,
            clusterId: CLUSTER_ID,
            etcdClusterId: ETCD_CLUSTER_ID,
        } as HelperFacts,
        kube: fakeKube(servers["127.0.0.1"]),
        etcd,
        kubeAt,
    } as unknown as ClusterConnection;
}

const look = (scene: Scene, options: ViewOptions = {}) =>
    readCluster(connectionTo(scene), options, Deadline.after(5000));
const healths = (members: readonly Member[]): string[] => members.map(({ name, health }) => `${name} ${health}`);

describe("the view of a cluster", () => {
    it("asks every other member's own API server, and the helper's on its loopback", async () => {
        const asked: string[] = [];
        const closed: string[] = [];
        const { members, leaderId } = await look({ servers: { "10.0.0.2": {}, "10.0.0.3": {} }, asked, closed });
        assert.deepEqual(healths(members), ["c1 healthy", "c2 healthy", "c3 healthy"]);
        assert.deepEqual(members[1]?.peerHosts, ["10.0.0.2"]);
        assert.deepEqual(asked.sort(), ["10.0.0.2", "10.0.0.3"]);
        assert.deepEqual(closed.sort(), asked);
        assert.equal(leaderId, 2n);
    });

    it("tells when each kubelet renewed its Lease, by the API server's clock as it answered for them", async () => {
        const asked: string[] = [];
        const leases = [
            { name: "c1", renewTime: "2026-11-29T14:00:00.000000Z" },
            { name: "k0s-ctrl-c2", renewTime: "" },
        ];
        let now = 7;
        const kube = {
            ...fakeKube(),
            leases: async (namespace: string) => {
                asked.push(namespace);
                return leases;
            },
            // Other members are asked meanwhile, and may take their time.
            isReady: async () => {
                now = await setTimeout(50, 60_000);
                return true;
            },
            now: () => now,
        } as unknown as Kube;
        const facts = await readCluster({ ...connectionTo({}), kube }, {}, Deadline.after(5000));
        assert.deepEqual([facts.heartbeats, facts.now], [{ c1: Date.parse("2026-11-29T14:00:00Z") }, 7]);
        assert.deepEqual(asked, ["kube-node-lease"]);
    });

    it("takes a member for unhealthy that refuses, is not ready, or shows another cluster", async () => {
        const { members } = await look({
            servers: { "127.0.0.1": { ready: false }, "10.0.0.2": { clusterId: "another" } },
        });
        assert.deepEqual(healths(members), ["c1 unhealthy", "c2 unhealthy", "c3 unhealthy"]);
    });

    it("wants to see our lock at the version written or a later one, during an operation", async () => {
        const shown = (lease: Partial<LeaseObject>): FakeKubeAnswers => ({ lease: { ...LEASE, ...lease } });
        const check = async (lease: Partial<LeaseObject>): Promise<string | undefined> => {
            const { members } = await look({ servers: { "10.0.0.2": shown(lease) } }, { lease: LEASE });
            return members[1]?.health;
        };
        assert.equal(await check({}), "healthy");
        assert.equal(await check({ resourceVersion: "1000" }), "healthy");
        assert.equal(await check({ resourceVersion: "99" }), "unhealthy");
        assert.equal(await check({ holder: "somebody else" }), "unhealthy");
        assert.equal(await check({ uid: "another" }), "unhealthy");
        const { members } = await look({ servers: { "10.0.0.3": {} } }, { lease: LEASE });
        assert.equal(members[2]?.health, "unhealthy", "no lock there at all");
    });

    it("asks a member one question at a time, and no other one where the first is answered with a failure", async () => {
        const asked: string[] = [];
        let open = 0;
        const answer = async <T>(name: string, value: T): Promise<T> => {
            asked.push(name);
            assert.equal(++open, 1, `${name} while another question is open`);
            await setImmediate();
            open -= 1;
            return value;
        };
        const member = (ready: boolean): Kube =>
            ({
                isReady: () => answer("ready", ready),
                clusterId: () => answer("cluster", CLUSTER_ID),
                lease: () => answer("lease", LEASE),
                close: () => undefined,
            }) as unknown as Kube;
        const check = async (ready: boolean): Promise<readonly Member[]> => {
            const etcd = fakeEtcd({
                members: async () => ({ clusterId: ETCD_CLUSTER_ID, members: MEMBERS.slice(0, 2) }),
            });
            const own = {
                ...connectionTo({ etcd, servers: { "127.0.0.1": { lease: LEASE } } }),
                kubeAt: () => member(ready),
            };
            return (await readCluster(own, { lease: LEASE }, Deadline.after(5000))).members;
        };
        assert.deepEqual(healths(await check(true)), ["c1 healthy", "c2 healthy"]);
        assert.deepEqual(asked.splice(0), ["ready", "cluster", "lease"]);
        assert.deepEqual(healths(await check(false)), ["c1 healthy", "c2 unhealthy"]);
        assert.deepEqual(asked, ["ready"]);
    });

    it("falls back to the ControlNode's other address only where nobody answers at the peer address", async () => {
        const controlNodes = [
            controlNode("c2", "10.0.0.2", "192.168.0.2", "c2"),
            controlNode("c3", "10.0.0.3", "192.168.0.3"),
        ];
        const { members } = await look({
            servers: {
                "127.0.0.1": { controlNodes },
                "192.168.0.2": {},
                "10.0.0.3": { ready: false },
                "192.168.0.3": {},
            },
        });
        assert.deepEqual(healths(members), ["c1 healthy", "c2 healthy", "c3 unhealthy"]);
    });

    it("fails when the helper's etcd has no majority", async () => {
        const noLeader = new ApiError({ stage: "asking etcd", what: "no leader", retryable: true });
        await assert.rejects(look({ etcd: fakeEtcd({ members: () => Promise.reject(noLeader) }) }), noLeader);
    });

    it("fails, and is worth another try elsewhere, when the helper has left its etcd since, or serves another one", async () => {
        for (const [clusterId, members] of [
            [ETCD_CLUSTER_ID, MEMBERS.slice(1)],
            [0xbadn, MEMBERS],
        ] as const) {
            await assert.rejects(
                look({ etcd: fakeEtcd({ members: async () => ({ clusterId, members }) }) }),
                (error: MkeError) =>
                    error instanceof ConnectionError && error.retryable && /not in the list/.test(error.message),
            );
        }
    });

    it("fails at the deadline when the helper hangs", async () => {
        const hung = fakeEtcd({ alarms: () => new Promise(() => undefined) });
        const reading = readCluster(connectionTo({ etcd: hung }), {}, Deadline.after(20));
        await assert.rejects(reading, TimeoutError);
    });

    it("knows a member without a name and a learner", async () => {
        const members = [
            ...MEMBERS.slice(0, 1),
            { id: 9n, name: "", peerUrls: ["https://10.0.0.9:2380"], learner: true },
        ];
        const etcd = fakeEtcd({ members: async () => ({ clusterId: ETCD_CLUSTER_ID, members }) });
        const [, fresh] = (await look({ etcd })).members;
        assert.deepEqual(fresh, { id: 9n, name: "", peerHosts: ["10.0.0.9"], learner: true, health: "unhealthy" });
    });
});

describe("where a member's API server is asked", () => {
    it("is never found by a name", () => {
        assert.deepEqual(apiAddresses(["10.0.0.2"], [controlNode("c2", "10.0.0.7", "c2")]), ["10.0.0.2"]);
    });

    it("leaves out names and doubles", () => {
        assert.deepEqual(apiAddresses(["10.0.0.2"], [controlNode("c2", "10.0.0.2", "fd00::2", "c2")]), [
            "10.0.0.2",
            "fd00::2",
        ]);
    });

    it("is found whatever way an IPv6 address is written", () => {
        const addresses = apiAddresses(["fd00::2"], [controlNode("c2", "FD00:0::2", "fd00:0:1::2", "c2")]);
        assert.deepEqual(addresses, ["fd00::2", "fd00:0:1::2"]);
    });

    it("is read out of a URL with or without an IPv6 address", () => {
        assert.deepEqual([hostOf("https://10.0.0.1:2380"), hostOf("https://[fd00::1]:2380")], ["10.0.0.1", "fd00::1"]);
    });
});
