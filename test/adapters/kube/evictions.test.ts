import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { it } from "mocha";
import type { Eviction } from "../../../provider/adapters/kube";
import { Deadline, waitFor } from "../../../provider/deadline";
import { TestCa } from "../../support/pki";
import { freePort } from "../../support/program";
import { ANOTHER_UID, describeReal } from "./real-server";

const PODS = "/api/v1/namespaces/default/pods";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

describeReal("the evictions", (real) => {
    const createPod = (name: string, nodeName: string, labels = {}): Promise<unknown> =>
        real.server().request("POST", PODS, {
            apiVersion: "v1",
            kind: "Pod",
            metadata: { name, labels },
            spec: { nodeName, containers: [{ name: "c", image: "none" }] },
        });
    it("evicts a pod, says blocked while a budget forbids it, and gone for another pod of the name", async () => {
        const kube = real.open();
        await createPod("free", "w9");
        await createPod("guarded", "w9", { app: "guarded" });
        await real.server().request("POST", BUDGETS, {
            apiVersion: "policy/v1",
            kind: "PodDisruptionBudget",
            metadata: { name: "guarded" },
            spec: { minAvailable: 1, selector: { matchLabels: { app: "guarded" } } },
        });
        // a budget counts for pods that run; no controller works here, so its status allows nothing
        await real.server().request("PATCH", `${PODS}/guarded/status`, {
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
        await real
            .server()
            .request("PATCH", `${BUDGETS}/guarded/status`, { status: { observedGeneration: 1, ...counted } });
        assert.deepEqual(await kube.evict(guarded, undefined), {
            blocked: "The disruption budget guarded needs 1 healthy pods and has 1 currently",
        });
        assert.equal(await kube.evict(free, 0), "accepted");
        assert.equal(await kube.evict(free, 0), "gone");
        assert.deepEqual(await kube.podsOn("nobody"), []);
    });

    it("tells what an admission webhook does to an eviction: no answer, or a denial in its own words", async () => {
        const kube = real.open();
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
        const closed = await freePort();
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
            await real
                .server()
                .request("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
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
});
