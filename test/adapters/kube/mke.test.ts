import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, describe, it } from "mocha";
import type { Kube } from "../../../provider/adapters/kube";
import type { MkeConfigObject } from "../../../provider/adapters/kube/mke";
import type { ApiError } from "../../../provider/errors";
import { KUBE_SERVER_PARTS, KubeServer } from "../../support/kube-server";
import { MKE_CONFIG_PATH, MKE_CRDS } from "../../support/mke-crds";
import { TestCa } from "../../support/pki";
import { skipWithout } from "../../support/real-parts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CONFIGS = "/apis/mke.mirantis.com/v1alpha1/namespaces/mke/mkeconfigs";
const RELEASES = "/apis/mke.mirantis.com/v1alpha1/mkereleases";
const PLANS = "/apis/autopilot.k0sproject.io/v1beta2/plans";
const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

const OTHER = {
    role: "worker",
    ssh: { address: "10.0.0.12", user: "ubuntu", port: 22, keyPath: "/k" },
    odd: [1, null],
};
const OWN = { role: "worker", ssh: { address: "10.0.0.11", user: "root", port: 22, keyPath: "/k" } };

describe("MKE on a real kube-apiserver", function () {
    this.timeout("5m");
    let server: KubeServer;
    let kube: Kube;
    const undo: (() => unknown)[] = [];

    before(async function () {
        skipWithout(this, ...KUBE_SERVER_PARTS);
        server = await KubeServer.start();
        undo.push(() => server.stop());
        kube = server.kube();
        undo.push(() => kube.close());
    });
    after(async () => {
        for (const one of undo.reverse()) await one();
    });

    const create = (path: string, apiVersion: string, kind: string, content: object): Promise<unknown> =>
        server.request("POST", path, { apiVersion, kind, ...content });
    const config = async (): Promise<MkeConfigObject> => {
        const found = await kube.mke.config();
        assert.ok(found);
        return found;
    };
    const hosts = async (): Promise<unknown> => {
        const raw = (await server.request("GET", MKE_CONFIG_PATH)) as { spec?: { hosts?: unknown } };
        return raw.spec?.hosts;
    };

    it("has nothing before MKE is installed", async () => {
        assert.equal(await kube.hasMke(), false);
        assert.equal(await kube.mke.config(), undefined);
        assert.deepEqual(await kube.mke.releases(), []);
        assert.deepEqual(await kube.mke.plans(), []);
        assert.deepEqual(await kube.mke.workloads("mke"), []);
        assert.equal(await kube.mke.dockerConfig("none"), undefined);
    });

    describe("with its kinds", () => {
        before(async () => {
            for (const crd of MKE_CRDS) await server.request("POST", CRDS, crd);
            for (const path of [CONFIGS, RELEASES, PLANS]) await eventually(() => server.request("GET", path));
            await create("/api/v1/namespaces", "v1", "Namespace", { metadata: { name: "mke" } });
            await create(CONFIGS, "mke.mirantis.com/v1alpha1", "MkeConfig", {
                metadata: { name: "mke" },
                spec: {
                    version: "v4.2.1",
                    hosts: [OTHER],
                    cloudProvider: { enabled: true, provider: "aws" },
                    registries: {
                        imageRegistry: { url: "registry.example.com/mke", credentialsSecretName: "pull", caData: "" },
                    },
                },
            });
        });
        beforeEach(() => server.request("PATCH", MKE_CONFIG_PATH, { spec: { hosts: [OTHER] } }));

        it("shows MkeConfig", async () => {
            assert.equal(await kube.hasMke(), true);
            const { resourceVersion, generation, ...rest } = await config();
            assert.match(resourceVersion, /^\d+$/);
            assert.ok(generation >= 1);
            assert.deepEqual(rest, {
                version: "v4.2.1",
                hosts: [OTHER],
                cloudProvider: true,
                imageRegistry: { url: "registry.example.com/mke", caData: undefined, credentialsSecretName: "pull" },
                observedGeneration: undefined,
                appliedVersion: undefined,
                phase: undefined,
                conditions: [],
            });
        });

        it("appends a host and takes it out again, and leaves the others as they are", async () => {
            const add = { op: "add", path: "/spec/hosts/-", value: OWN } as const;
            assert.equal(await kube.mke.patchConfig((await config()).resourceVersion, [add]), true);
            assert.deepEqual(await hosts(), [OTHER, OWN]);
            const remove = { op: "remove", path: "/spec/hosts/1" } as const;
            assert.equal(await kube.mke.patchConfig((await config()).resourceVersion, [remove]), true);
            assert.deepEqual(await hosts(), [OTHER]);
        });

        it("makes the list where there is none", async () => {
            await server.request("PATCH", MKE_CONFIG_PATH, { spec: { hosts: null } });
            const { hosts: none, resourceVersion } = await config();
            assert.equal(none, undefined);
            const add = { op: "add", path: "/spec/hosts", value: [OWN] } as const;
            assert.equal(await kube.mke.patchConfig(resourceVersion, [add]), true);
            assert.deepEqual(await hosts(), [OWN]);
        });

        it("changes nothing in an object that somebody else wrote to meanwhile", async () => {
            const { resourceVersion } = await config();
            await server.request("PATCH", MKE_CONFIG_PATH, { metadata: { annotations: { somebody: "else" } } });
            for (const operation of [
                { op: "add", path: "/spec/hosts/-", value: OWN },
                { op: "remove", path: "/spec/hosts/7" },
            ] as const) {
                assert.equal(await kube.mke.patchConfig(resourceVersion, [operation]), false);
            }
            assert.deepEqual(await hosts(), [OTHER]);
        });

        it("fails where the patch does not fit the object it was made for", async () => {
            const remove = { op: "remove", path: "/spec/hosts/7" } as const;
            await assert.rejects(kube.mke.patchConfig((await config()).resourceVersion, [remove]), /422/);
        });

        it("tells a webhook's rejection in its words, and that one is away as something that passes", async () => {
            const ca = await TestCa.create("webhook-ca");
            const webhook = createServer(await ca.issue("CN=webhook", ["127.0.0.1"]), (request, response) => {
                void text(request).then((body) => {
                    const { uid } = (JSON.parse(body) as { request: { uid: string } }).request;
                    const status = { code: 422, message: "spec.version v4.2.1: no Ready MkeRelease" };
                    response.setHeader("content-type", "application/json").end(
                        JSON.stringify({
                            apiVersion: "admission.k8s.io/v1",
                            kind: "AdmissionReview",
                            response: { uid, allowed: false, status },
                        }),
                    );
                });
            });
            await new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", () => resolve()));
            const close = (): Promise<void> => {
                webhook.closeAllConnections();
                return new Promise((resolve) => webhook.close(() => resolve()));
            };
            undo.push(close);
            await create(WEBHOOKS, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {
                metadata: { name: "mke" },
                webhooks: [
                    {
                        name: "mkeconfig.mke.mirantis.com",
                        admissionReviewVersions: ["v1"],
                        sideEffects: "None",
                        failurePolicy: "Fail",
                        clientConfig: {
                            url: `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/`,
                            caBundle: Buffer.from(ca.cert).toString("base64"),
                        },
                        rules: [
                            {
                                apiGroups: ["mke.mirantis.com"],
                                apiVersions: ["*"],
                                operations: ["UPDATE"],
                                resources: ["mkeconfigs"],
                            },
                        ],
                    },
                ],
            });
            const add = { op: "add", path: "/spec/hosts/-", value: OWN } as const;
            const attempt = async (): Promise<ApiError> => {
                try {
                    await kube.mke.patchConfig((await config()).resourceVersion, [add]);
                } catch (error) {
                    return error as ApiError;
                }
                await server.request("PATCH", MKE_CONFIG_PATH, { spec: { hosts: [OTHER] } }).catch(() => undefined);
                throw new Error("not rejected yet");
            };
            // the API server notices a new webhook a moment after it was made
            const rejected = await eventually(attempt);
            assert.match(rejected.message, /denied the request: spec\.version v4\.2\.1: no Ready MkeRelease/);
            assert.equal(rejected.retryable, false);
            await close();
            const away = await attempt();
            assert.match(away.message, /failed calling webhook/);
            assert.equal(away.retryable, true);
            await server.request("DELETE", `${WEBHOOKS}/mke`);
            await eventually(() => server.request("PATCH", MKE_CONFIG_PATH, { spec: { hosts: [OTHER] } }));
        });

        it("shows releases and plans with their states", async () => {
            const version = "mke.mirantis.com/v1alpha1";
            await create(RELEASES, version, "MkeRelease", {
                metadata: { name: "mke-4-2-1" },
                spec: { version: "v4.2.1" },
            });
            const path = `${RELEASES}/mke-4-2-1/status`;
            assert.deepEqual(await kube.mke.releases(), [
                { name: "mke-4-2-1", version: "v4.2.1", ready: false, state: "no status" },
            ]);
            const ready = (status: string) => ({
                status: { conditions: [{ type: "Ready", status, message: "webhook away" }] },
            });
            await server.request("PATCH", path, ready("False"));
            assert.equal((await kube.mke.releases())[0]?.state, "Ready=False webhook away");
            await server.request("PATCH", path, ready("True"));
            assert.equal((await kube.mke.releases())[0]?.ready, true);

            await create(PLANS, "autopilot.k0sproject.io/v1beta2", "Plan", { metadata: { name: "autopilot" } });
            assert.deepEqual(await kube.mke.plans(), [{ name: "autopilot", state: "" }]);
            await server.request("PATCH", `${PLANS}/autopilot/status`, { status: { state: "Completed" } });
            assert.deepEqual(await kube.mke.plans(), [{ name: "autopilot", state: "Completed" }]);
        });

        it("shows workloads and restarts them as kubectl does", async () => {
            const labels = { app: "a" };
            const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "none" }] } };
            const spec = { selector: { matchLabels: labels }, template };
            const deployments = "/apis/apps/v1/namespaces/mke/deployments";
            const statefulSets = "/apis/apps/v1/namespaces/mke/statefulsets";
            await create(deployments, "apps/v1", "Deployment", {
                metadata: { name: "d", labels },
                spec: { ...spec, replicas: 3 },
            });
            await create(statefulSets, "apps/v1", "StatefulSet", {
                metadata: { name: "s" },
                spec: { ...spec, serviceName: "s", updateStrategy: { type: "OnDelete" } },
            });
            const [deployment, statefulSet] = await kube.mke.workloads("mke");
            assert.ok(deployment && statefulSet);
            const state = { paused: false, generation: 1, observedGeneration: 0, replicas: 0, updated: 0, ready: 0 };
            assert.deepEqual(deployment, {
                ...{ kind: "Deployment", namespace: "mke", name: "d", labels, rolls: true, wanted: 3 },
                ...state,
            });
            assert.deepEqual(statefulSet, {
                ...{ kind: "StatefulSet", namespace: "mke", name: "s", labels: {}, rolls: false, wanted: 1 },
                ...state,
            });
            await kube.mke.restart(deployment, "2026-11-29T14:00:00Z");
            const raw = (await server.request("GET", `${deployments}/d`)) as {
                spec: { template: { metadata: object; spec: { containers: readonly object[] } } };
            };
            assert.deepEqual(raw.spec.template.metadata, {
                labels,
                annotations: { "kubectl.kubernetes.io/restartedAt": "2026-11-29T14:00:00Z" },
            });
            assert.equal(raw.spec.template.spec.containers.length, 1);
            assert.equal((await kube.mke.workloads("mke"))[0]?.generation, 2);
        });

        it("reads a login to a registry from its Secret", async () => {
            const content = '{"auths":{}}';
            await create("/api/v1/namespaces/mke/secrets", "v1", "Secret", {
                metadata: { name: "pull" },
                type: "kubernetes.io/dockerconfigjson",
                data: { ".dockerconfigjson": Buffer.from(content).toString("base64") },
            });
            assert.equal(await kube.mke.dockerConfig("pull"), content);
        });
    });
});

async function eventually<T>(action: () => Promise<T>): Promise<T> {
    const end = performance.now() + 120_000;
    for (;;) {
        try {
            return await action();
        } catch (error) {
            if (performance.now() > end) throw error;
            await new Promise((resolve) => setTimeout(resolve, 200));
        }
    }
}
