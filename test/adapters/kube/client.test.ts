import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, afterEach, before, describe, it } from "mocha";
import type { Eviction, Kube, LeaseObject } from "../../../provider/adapters/kube";
import { connectKube } from "../../../provider/adapters/kube/client";
import { Deadline, waitFor } from "../../../provider/deadline";
import type { ApiError } from "../../../provider/errors";
import { KubeServer, whyNoKube } from "../../support/kube-server";
import { loopbackHost } from "../../support/loopback-host";
import { TestCa } from "../../support/pki";
import { freePorts } from "../../support/program";

const ETCD_MEMBERS = "/apis/etcd.k0sproject.io/v1beta1/etcdmembers";
const PODS = "/api/v1/namespaces/default/pods";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const ANOTHER_UID = "00000000-0000-0000-0000-000000000000";

describe(`a real kube-apiserver${whyNoKube === undefined ? "" : ` (skipped: ${whyNoKube})`}`, function () {
    this.timeout(120_000);
    let server: KubeServer;
    const started: KubeServer[] = [];
    const opened: Kube[] = [];

    before(async function () {
        if (whyNoKube !== undefined) return this.skip();
        server = await KubeServer.start();
        started.push(server);
    });
    afterEach(() => {
        for (const kube of opened.splice(0)) kube.close();
    });
    after(() => Promise.all(started.map((one) => one.stop())));

    const open = (): Kube => {
        const kube = server.kube();
        opened.push(kube);
        return kube;
    };
    const createNode = (name: string): Promise<unknown> =>
        server.request("POST", "/api/v1/nodes", {
            apiVersion: "v1",
            kind: "Node",
            metadata: { name, labels: { a: "1" } },
        });
    const createMember = (name: string): Promise<unknown> =>
        server.request("POST", ETCD_MEMBERS, {
            apiVersion: "etcd.k0sproject.io/v1beta1",
            kind: "EtcdMember",
            metadata: { name },
            spec: {},
        });
    const createPod = (name: string, nodeName: string, labels = {}): Promise<unknown> =>
        server.request("POST", PODS, {
            apiVersion: "v1",
            kind: "Pod",
            metadata: { name, labels },
            spec: { nodeName, containers: [{ name: "c", image: "none" }] },
        });
    const node = async (name: string) => {
        const found = await open().node(name);
        assert.ok(found, `Node ${name}`);
        return found;
    };

    it("is reached with the credentials in admin.conf, and tells its kube-system and its health", async () => {
        const host = loopbackHost({ files: { "/data/pki/admin.conf": server.adminConf } });
        const kube = await connectKube(host, "/data", Deadline.after(5000), {
            server: { host: "127.0.0.1", port: server.port },
        });
        opened.push(kube);
        assert.match(await kube.clusterId(), /^[0-9a-f-]{36}$/);
        assert.equal(await kube.isReady("/readyz"), true);
        assert.equal(await kube.isReady("/readyz/etcd"), true);
    });

    it("cordons, annotates and labels a Node, and takes it all back", async () => {
        const kube = open();
        await createNode("w1");
        await kube.setUnschedulable("w1", true);
        await kube.annotateNode("w1", { "pulumi-mke/owner": "me" });
        await kube.labelNode("w1", { a: null, b: "2" });
        const changed = await node("w1");
        assert.deepEqual([changed.unschedulable, changed.annotations["pulumi-mke/owner"]], [true, "me"]);
        assert.deepEqual([changed.labels["a"], changed.labels["b"]], [undefined, "2"]);
        await kube.setUnschedulable("w1", false);
        await kube.annotateNode("w1", { "pulumi-mke/owner": null });
        const restored = await node("w1");
        assert.deepEqual([restored.unschedulable, restored.annotations["pulumi-mke/owner"]], [false, undefined]);
    });

    it("lists Nodes, and answers undefined for one that does not exist", async () => {
        await createNode("w2");
        assert.ok((await open().nodes()).some(({ name }) => name === "w2"));
        assert.equal(await open().node("nobody"), undefined);
    });

    it("deletes a Node only while it is the one that was meant", async () => {
        const kube = open();
        await createNode("w3");
        await kube.deleteNode("w3", ANOTHER_UID);
        const { uid } = await node("w3");
        await kube.deleteNode("w3", uid);
        assert.equal(await kube.node("w3"), undefined);
        await kube.deleteNode("w3", uid);
    });

    it("evicts a pod, says blocked while a budget forbids it, and gone for another pod of the name", async () => {
        const kube = open();
        await createPod("free", "w9");
        await createPod("guarded", "w9", { app: "guarded" });
        await server.request("POST", BUDGETS, {
            apiVersion: "policy/v1",
            kind: "PodDisruptionBudget",
            metadata: { name: "guarded" },
            spec: { minAvailable: 1, selector: { matchLabels: { app: "guarded" } } },
        });
        // a budget counts for pods that run; no controller works here, so its status allows nothing
        await server.request("PATCH", `${PODS}/guarded/status`, {
            status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
        });
        const pods = await kube.podsOn("w9");
        assert.deepEqual(pods.map(({ name }) => name).sort(), ["free", "guarded"]);
        const [free, guarded] = [pods.find(({ name }) => name === "free"), pods.find(({ name }) => name === "guarded")];
        assert.ok(free && guarded);
        assert.equal(await kube.evict({ ...free, uid: ANOTHER_UID }, undefined), "gone");
        assert.deepEqual(await kube.evict(guarded, undefined), {
            blocked: "The disruption budget guarded is still being processed by the server.",
        });
        const counted = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
        await server.request("PATCH", `${BUDGETS}/guarded/status`, { status: { observedGeneration: 1, ...counted } });
        assert.deepEqual(await kube.evict(guarded, undefined), {
            blocked: "The disruption budget guarded needs 1 healthy pods and has 1 currently",
        });
        assert.equal(await kube.evict(free, 0), "accepted");
        assert.equal(await kube.evict(free, 0), "gone");
        assert.deepEqual(await kube.podsOn("nobody"), []);
    });

    it("tells what an admission webhook does to an eviction: no answer, or a denial in its own words", async () => {
        const kube = open();
        const ca = await TestCa.create();
        const serving = await ca.issue("CN=webhook", ["127.0.0.1"]);
        const webhook = createServer(serving, (request, response) => {
            void text(request).then((body) => {
                const { uid } = (JSON.parse(body) as { request: { uid: string } }).request;
                const review = { uid, allowed: false, status: { message: "its volume is attached" } };
                response.setHeader("content-type", "application/json");
                response.end(
                    JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: review }),
                );
            });
        });
        await new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", resolve));
        const { port } = webhook.address() as AddressInfo;
        const [closed = 0] = await freePorts(1);
        const hook = (name: string, at: number) => ({
            name: `${name}.example.com`,
            clientConfig: { url: `https://127.0.0.1:${at}/`, caBundle: Buffer.from(ca.cert).toString("base64") },
            rules: [{ operations: ["CREATE"], apiGroups: ["*"], apiVersions: ["*"], resources: ["pods/eviction"] }],
            matchConditions: [{ name: "this-pod", expression: `request.name == "${name}"` }],
            failurePolicy: "Fail",
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
        });
        try {
            await server.request("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
                apiVersion: "admissionregistration.k8s.io/v1",
                kind: "ValidatingWebhookConfiguration",
                metadata: { name: "pulumi-mke-test" },
                webhooks: [hook("hooked", closed), hook("denied", port)],
            });
            const answerTo = async (name: string): Promise<Eviction> => {
                await createPod(name, "w8");
                const pod = (await kube.podsOn("w8")).find((one) => one.name === name);
                assert.ok(pod);
                // the API server takes a moment to know of a webhook
                return waitFor<Eviction>({
                    stage: "evicting",
                    deadline: Deadline.afterSeconds(60),
                    look: async () => {
                        const answer = await kube.evict(pod, undefined);
                        return typeof answer === "string" ? { seen: answer } : { done: answer };
                    },
                });
            };
            const failed = JSON.stringify(await answerTo("hooked"));
            assert.match(failed, /failed.*failed calling webhook \\"hooked\.example\.com\\".*connection refused/);
            assert.deepEqual(await answerTo("denied"), {
                failed: 'admission webhook "denied.example.com" denied the request: its volume is attached',
            });
        } finally {
            webhook.close();
        }
    });

    it("asks an EtcdMember to leave and annotates it in one patch, and only the one that was meant", async () => {
        const kube = open();
        await createMember("c7");
        const [member] = (await kube.etcdMembers()).filter(({ name }) => name === "c7");
        assert.ok(member);
        await assert.rejects(kube.patchEtcdMember("c7", ANOTHER_UID, { leave: true }), (error: ApiError) => {
            assert.deepEqual([error.code, error.retryable], [409, false]);
            return true;
        });
        await kube.patchEtcdMember("c7", member.uid, { leave: true, annotations: { "pulumi-mke/operation": "o1" } });
        const [asked] = (await kube.etcdMembers()).filter(({ name }) => name === "c7");
        assert.deepEqual([asked?.leave, asked?.annotations["pulumi-mke/operation"]], [true, "o1"]);
        await kube.deleteEtcdMember("c7", ANOTHER_UID);
        assert.ok((await kube.etcdMembers()).some(({ name }) => name === "c7"));
        await kube.deleteEtcdMember("c7", member.uid);
        assert.ok(!(await kube.etcdMembers()).some(({ name }) => name === "c7"));
    });

    it("lists and deletes ControlNodes", async () => {
        const kube = open();
        const path = "/apis/autopilot.k0sproject.io/v1beta2/controlnodes";
        const metadata = { name: "c8" };
        await server.request("POST", path, {
            apiVersion: "autopilot.k0sproject.io/v1beta2",
            kind: "ControlNode",
            metadata,
        });
        const [object] = await kube.controlNodes();
        assert.ok(object);
        assert.equal(object.name, "c8");
        await kube.deleteControlNode("c8", object.uid);
        assert.deepEqual(await kube.controlNodes(), []);
    });

    it("has no MKE without its CRD", async () => {
        assert.equal(await open().hasMke(), false);
    });

    it("fails with the API's reason, not retryable, when an object is not there to be changed", async () => {
        await assert.rejects(open().annotateNode("nobody", { a: "b" }), (error: ApiError) => {
            assert.deepEqual([error.code, error.retryable], [404, false]);
            assert.match(error.message, /PATCH \/api\/v1\/nodes\/nobody: 404 nodes "nobody" not found/);
            return true;
        });
    });

    describe("Leases", () => {
        const request = {
            namespace: "kube-system",
            durationSeconds: 60,
            labels: { "app.kubernetes.io/managed-by": "test" },
            annotations: { "pulumi-mke/process": "p" },
        };
        const create = async (name: string): Promise<LeaseObject> => {
            const lease = await open().createLease({ ...request, name, holder: "me" });
            assert.ok(lease);
            return lease;
        };

        it("are created once", async () => {
            const lease = await create("once");
            assert.deepEqual([lease.holder, lease.durationSeconds], ["me", 60]);
            assert.match(lease.renewTime, /^\d{4}-.*\.\d{6}Z$/);
            assert.equal(await open().createLease({ ...request, name: "once", holder: "you" }), undefined);
            assert.deepEqual(await open().lease("kube-system", "once"), lease);
            assert.equal(await open().lease("kube-system", "never"), undefined);
        });

        it("are replaced only at the version that was read", async () => {
            const lease = await create("replaced");
            const longer = await open().replaceLease({ ...lease, durationSeconds: 900 });
            assert.equal(longer?.durationSeconds, 900);
            assert.equal(await open().replaceLease({ ...lease, holder: "you" }), undefined);
            assert.equal((await open().lease("kube-system", "replaced"))?.holder, "me");
        });

        it("may be without a holder", async () => {
            const released = await open().replaceLease({ ...(await create("released")), holder: "" });
            assert.equal(released?.holder, "");
        });

        it("answer undefined when they were deleted meanwhile", async () => {
            const lease = await create("deleted");
            assert.equal(await open().deleteLease("kube-system", "deleted"), true);
            assert.equal(await open().replaceLease(lease), undefined);
        });

        it("are deleted only at that version", async () => {
            const lease = await create("kept");
            await open().replaceLease(lease);
            assert.equal(await open().deleteLease("kube-system", "kept", lease.resourceVersion), false);
            assert.equal(await open().deleteLease("kube-system", "kept"), true);
            assert.equal(await open().deleteLease("kube-system", "kept"), true);
        });

        it("are found by their label", async () => {
            await create("labelled");
            const names = async (selector?: string): Promise<string[]> =>
                (await open().leases("kube-system", selector)).map(({ name }) => name);
            assert.ok((await names("app.kubernetes.io/managed-by=test")).includes("labelled"));
            assert.ok(!(await names("app.kubernetes.io/managed-by=other")).includes("labelled"));
        });
    });

    it("is not ready, and its failures are worth another try, while its etcd is away", async () => {
        const etcd = server.etcd.members[0]?.process;
        const kube = server.kube(8000);
        opened.push(kube);
        etcd?.suspend();
        try {
            assert.equal(await kube.isReady("/readyz/etcd"), false);
        } finally {
            etcd?.resume();
        }
    });
});
