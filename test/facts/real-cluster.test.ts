import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import type { Host } from "../../provider/adapters/host";
import { Deadline } from "../../provider/deadline";
import { LockError } from "../../provider/errors";
import { readCluster } from "../../provider/facts/cluster-view";
import type { ClusterConnection } from "../../provider/facts/controller";
import { connectCluster } from "../../provider/facts/helper";
import type { Connection } from "../../provider/inputs";
import { CONTROL_PLANE_LEASE, type LockRequest, withLock } from "../../provider/lock";
import { silentLog } from "../../provider/log";
import { KUBE_SERVER_PARTS, KubeServer } from "../support/kube-server";
import { loopbackHost } from "../support/loopback-host";
import { skipWithout } from "../support/real-parts";
import { controllerFacts } from "./fakes";

describe("a controller with real etcd and API", function () {
    this.timeout("5m");
    let server: KubeServer;
    let cluster: ClusterConnection;
    const cleanUps: (() => unknown)[] = [];

    before(async function () {
        skipWithout(this, ...KUBE_SERVER_PARTS);
        server = await KubeServer.start();
        cleanUps.push(() => server.stop());
        cluster = await connectCluster(
            {
                candidates: [{ host: "10.0.0.1", connection: {} as Connection }],
                target: undefined,
                pins: {},
                openHost: () => controllerHost(server),
                log: silentLog,
            },
            Deadline.after(20_000),
        );
        cleanUps.push(() => cluster.close());
    });
    after(async () => {
        for (const cleanUp of cleanUps.reverse()) await cleanUp();
    });

    it("becomes the helper", () => {
        assert.match(cluster.helperFacts.clusterId, /^[0-9a-f-]{36}$/);
        assert.match(cluster.helperFacts.caFingerprint, /^sha256:[0-9a-f]{64}$/);
        assert.ok(cluster.helperFacts.memberId > 0n && cluster.helperFacts.etcdClusterId > 0n);
    });

    it("shows its cluster, with itself healthy and leading, also while the lock is held and renewed", async () => {
        await withLock(request(), async (held) => {
            const { lease } = held;
            await held.stretch(900);
            const facts = await readCluster(cluster, { lease }, Deadline.after(10_000));
            assert.deepEqual(
                facts.members.map(({ id, name, learner, health }) => ({ id, name, learner, health })),
                [{ id: cluster.helperFacts.memberId, name: "c1", learner: false, health: "healthy" }],
            );
            assert.equal(facts.leaderId, cluster.helperFacts.memberId);
            assert.deepEqual([facts.alarms, facts.mke, facts.nodes.length], [[], false, 0]);
        });
    });

    it("keeps the lock in a Lease that another process respects, and that is gone in the end", async () => {
        const record = { id: "o", kind: "add", owner: "me", target: "10.0.0.2", baseline: ["1"] } as const;
        await withLock(request(), async (held) => {
            await held.prove();
            await held.record(record);
            const lease = await cluster.kube.lease("kube-system", CONTROL_PLANE_LEASE);
            assert.equal(lease?.annotations["pulumi-mke/operation"], JSON.stringify(record));
            await held.prove();
        });
        assert.equal(await cluster.kube.lease("kube-system", CONTROL_PLANE_LEASE), undefined);
        await cluster.kube.createLease({
            namespace: "kube-system",
            name: CONTROL_PLANE_LEASE,
            holder: "somebody/else",
            durationSeconds: 60,
            labels: { "app.kubernetes.io/managed-by": "pulumi-mke" },
            annotations: {},
        });
        await assert.rejects(
            withLock(request(), async () => undefined),
            LockError,
        );
        await assert.rejects(
            withLock({ ...request(), kind: { node: "w1" } }, async () => undefined),
            LockError,
        );
    });

    const request = (): LockRequest => ({
        kube: () => cluster.kube,
        clusterId: cluster.helperFacts.clusterId,
        kind: { controlPlane: true },
        owner: "org/project/stack/c2",
        timeoutSeconds: 0,
        log: silentLog,
    });
});

/** A controller host as k0s leaves it, with k0s's fixed ports leading to the real servers. */
function controllerHost(server: KubeServer): Host {
    const ports: Readonly<Record<number, number | undefined>> = {
        6443: server.port,
        2379: server.etcd.members[0]?.clientPort,
    };
    return loopbackHost({
        address: "10.0.0.1",
        facts: controllerFacts(1),
        files: {
            "/data/pki/admin.conf": server.adminConf,
            "/data/pki/etcd/ca.crt": server.etcd.ca.cert,
            "/data/pki/apiserver-etcd-client.crt": server.etcd.client.cert,
            "/data/pki/apiserver-etcd-client.key": server.etcd.client.key,
        },
        route: (_host, port) => ({ host: "127.0.0.1", port: ports[port] ?? port }),
    });
}
