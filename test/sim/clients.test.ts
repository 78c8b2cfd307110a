import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server } from "node:net";
import type * as Kube from "@kubernetes/client-node" with { "resolution-mode": "import" };
import { Etcd3 } from "etcd3";
import { afterEach, beforeEach, describe, it } from "mocha";
import { Client } from "ssh2";
import { RESOURCES, type Simulation, startSimulation } from ".";

type KubeClient = typeof Kube;

/** client-node's models are classes, of which it takes anything that looks alike. */
const likeness = (value: object): never => value as never;

const ETCD_MEMBERS = { group: "etcd.k0sproject.io", version: "v1beta1", plural: "etcdmembers" };

/** Clients that know nothing of the provider, through ports forwarded as `ssh -L` does. */
describe("the servers of a simulated controller", () => {
    let sim: Simulation;
    const closing: (() => void)[] = [];

    beforeEach(async () => {
        sim = await startSimulation({ speed: 50 });
        for (const index of [1, 2, 3]) sim.host(`c${index}`, { address: `10.77.0.1${index}` });
        sim.bootstrapController("c1");
        sim.addSettled("c2", "controller+worker");
        sim.addSettled("c3", "controller+worker");
    });

    afterEach(async () => {
        for (const close of closing.splice(0)) close();
        await sim.close();
    });

    async function etcdOf(name: string): Promise<Etcd3> {
        const { etcdCa, etcdClient } = sim.cluster.pki;
        const client = new Etcd3({
            hosts: `https://127.0.0.1:${await forward(name, 2379)}`,
            credentials: {
                rootCertificate: Buffer.from(etcdCa),
                certChain: Buffer.from(etcdClient.cert),
                privateKey: Buffer.from(etcdClient.key),
            },
            grpcOptions: { "grpc.ssl_target_name_override": "localhost", "grpc.use_local_subchannel_pool": 1 },
        });
        closing.push(() => client.close());
        return client;
    }

    async function kubeOf(name: string): Promise<{ kube: KubeClient; config: InstanceType<KubeClient["KubeConfig"]> }> {
        const kube = await import("@kubernetes/client-node");
        const config = new kube.KubeConfig();
        config.loadFromString(sim.find(name).files.text("/var/lib/k0s/pki/admin.conf") ?? "");
        const [cluster] = config.clusters;
        const server = `https://localhost:${await forward(name, 6443)}`;
        config.clusters = [{ ...cluster, name: cluster?.name ?? "", server, skipTLSVerify: false }];
        return { kube, config };
    }

    async function forward(name: string, port: number): Promise<number> {
        const { host, port: sshPort, user, privateKey } = await sim.directConnectionArgs(name);
        const client = new Client();
        const ready = new Promise<void>((resolve, reject) => {
            client.once("ready", () => resolve());
            client.once("error", reject);
        });
        client.connect({ host, port: sshPort, username: user, privateKey });
        await ready;
        client.setNoDelay(true);
        client.on("error", () => undefined);
        const server: Server = createServer({ noDelay: true }, (socket) => {
            socket.on("error", () => undefined);
            client.forwardOut("127.0.0.1", 0, "127.0.0.1", port, (error, channel) => {
                if (error) return void socket.destroy();
                channel.on("error", () => undefined);
                channel.on("close", () => socket.destroy());
                socket.on("close", () => channel.destroy());
                socket.pipe(channel).pipe(socket);
            });
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        closing.push(() => {
            client.end();
            server.close();
        });
        return (server.address() as AddressInfo).port;
    }

    it("serve the member list and who leads by etcd3", async () => {
        const etcd = await etcdOf("c2");
        const { members } = await etcd.cluster.memberList({ linearizable: true });
        assert.deepEqual(members.map(({ name }) => name).sort(), ["c1", "c2", "c3"]);
        assert.deepEqual(members[0]?.clientURLs, ["https://127.0.0.1:2379"]);
        const status = await etcd.maintenance.status();
        assert.equal(BigInt(status.leader), sim.cluster.etcd.leaderId);
        assert.equal(BigInt(status.header.member_id), sim.members().find(({ name }) => name === "c2")?.id);
    });

    it("move leadership only when the leader is asked", async () => {
        const target = sim.members().find(({ name }) => name === "c3")?.id ?? 0n;
        const request = { targetID: target.toString() };
        await assert.rejects((await etcdOf("c2")).maintenance.moveLeader(request), /not leader/);
        await (await etcdOf("c1")).maintenance.moveLeader(request);
        assert.equal(sim.cluster.etcd.leaderId, target);
    });

    it("remove a member once, and then do not find it", async () => {
        const etcd = await etcdOf("c1");
        const ID = (sim.members().find(({ name }) => name === "c3")?.id ?? 0n).toString();
        await etcd.cluster.memberRemove({ ID });
        assert.equal(sim.members().length, 2);
        await assert.rejects(etcd.cluster.memberRemove({ ID }), /member not found/);
    });

    it("refuse a client without a certificate", async () => {
        const { etcdCa } = sim.cluster.pki;
        const stranger = new Etcd3({
            hosts: `https://127.0.0.1:${await forward("c1", 2379)}`,
            credentials: { rootCertificate: Buffer.from(etcdCa) },
            grpcOptions: { "grpc.ssl_target_name_override": "localhost", "grpc.use_local_subchannel_pool": 1 },
            defaultCallOptions: () => ({ deadline: Date.now() + 1000 }),
        });
        closing.push(() => stranger.close());
        await assert.rejects(stranger.maintenance.status());
    });

    it("serve Nodes to client-node, and take its patches", async () => {
        const { kube, config } = await kubeOf("c2");
        const core = config.makeApiClient(kube.CoreV1Api);
        const { items } = await core.listNode();
        assert.deepEqual(
            items.map(({ metadata }) => metadata?.name),
            ["c1", "c2", "c3"],
        );
        const operations = [{ op: "add", path: "/spec/unschedulable", value: true }];
        assert.equal((await core.patchNode({ name: "c3", body: operations })).spec?.unschedulable, true);
        assert.equal((await core.readNode({ name: "c3" })).metadata?.name, "c3");
        await assert.rejects(core.readNode({ name: "nobody" }), (error: { code?: number }) => error.code === 404);
    });

    it("serve Leases with optimistic locking to client-node", async () => {
        const { kube, config } = await kubeOf("c1");
        const leases = config.makeApiClient(kube.CoordinationV1Api);
        const namespace = "kube-system";
        const body = { metadata: { name: "lock" }, spec: { holderIdentity: "me", leaseDurationSeconds: 60 } };
        const created = await leases.createNamespacedLease({ namespace, body: likeness(body) });
        const isConflict = (error: { code?: number }): boolean => error.code === 409;
        await assert.rejects(leases.createNamespacedLease({ namespace, body: likeness(body) }), isConflict);
        await leases.replaceNamespacedLease({ namespace, name: "lock", body: likeness(created) });
        await assert.rejects(
            leases.replaceNamespacedLease({ namespace, name: "lock", body: likeness(created) }),
            isConflict,
        );
        const preconditions = { uid: "another" };
        await assert.rejects(
            leases.deleteNamespacedLease({ namespace, name: "lock", body: likeness({ preconditions }) }),
            isConflict,
        );
    });

    it("serve EtcdMembers and their CRD to client-node", async () => {
        const { kube, config } = await kubeOf("c1");
        const custom = config.makeApiClient(kube.CustomObjectsApi);
        const list = (await custom.listClusterCustomObject(ETCD_MEMBERS)) as {
            items: { status: { memberID: string } }[];
        };
        const ids = sim.members().map(({ id }) => id.toString(16));
        assert.deepEqual(list.items.map(({ status }) => status.memberID).sort(), ids.sort());
        const crds = config.makeApiClient(kube.ApiextensionsV1Api);
        const crd = await crds.readCustomResourceDefinition({ name: "etcdmembers.etcd.k0sproject.io" });
        assert.equal(crd.spec.names.kind, "EtcdMember");
        await assert.rejects(custom.listClusterCustomObject({ ...ETCD_MEMBERS, group: "mke.mirantis.com" }));
    });

    it("evict pods, but not one that a disruption budget holds", async () => {
        const { kube, config } = await kubeOf("c1");
        const core = config.makeApiClient(kube.CoreV1Api);
        sim.addPod("c3", { name: "free" });
        sim.addPod("c3", { name: "held", blocked: true });
        const evict = (name: string): Promise<unknown> => {
            const body = { metadata: { name, namespace: "default" } };
            return core.createNamespacedPodEviction({ name, namespace: "default", body: likeness(body) });
        };
        await evict("free");
        await assert.rejects(evict("held"), (error: { code?: number }) => error.code === 429);
        const left = async (): Promise<string[]> => {
            const { items } = await core.listPodForAllNamespaces({ fieldSelector: "spec.nodeName=c3" });
            return items.map(({ metadata }) => metadata?.name ?? "");
        };
        await sim.until("the pod is gone", () => sim.cluster.store.list(RESOURCES.pods).length === 1);
        assert.deepEqual(await left(), ["held"]);
    });
});
