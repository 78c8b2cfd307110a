import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { filesNamedIn, isMadeByK0s, referencesIn } from "../../../provider/adapters/k0s/references";

describe("the references of a k0s.yaml", () => {
    it("say where a path is named and whether it is read or written", () => {
        const config = {
            spec: {
                api: {
                    extraArgs: { "audit-policy-file": "/etc/k0s/audit.yaml", "audit-log-path": "/var/log/audit.log" },
                    rawArgs: ["--tls-sni-cert-key=/etc/a.crt,/etc/a.key"],
                },
                scheduler: { extraArgs: { config: "/etc/k0s/../k0s/scheduler.yaml", profile: "/x/y", v: 2 } },
                extensions: { helm: { repositories: [{ caFile: "/etc/ssl/helm.pem" }] } },
            },
        };
        assert.deepEqual(
            referencesIn(config).map(({ path, from, use }) => `${path} ${from} ${use}`),
            [
                "/etc/a.crt spec.api.rawArgs.tls-sni-cert-key input",
                "/etc/a.key spec.api.rawArgs.tls-sni-cert-key input",
                "/etc/k0s/audit.yaml spec.api.extraArgs.audit-policy-file input",
                "/etc/k0s/scheduler.yaml spec.scheduler.extraArgs.config input",
                "/etc/ssl/helm.pem spec.extensions.helm.repositories[0].caFile input",
                "/var/log/audit.log spec.api.extraArgs.audit-log-path output",
                "/x/y spec.scheduler.extraArgs.profile unknown",
            ],
        );
    });

    it("are found in arguments of two words, and in kube-apiserver's pairs of certificates and keys", () => {
        const paths = (rawArgs: readonly string[]) =>
            referencesIn({ spec: { api: { rawArgs } } }).map(({ path, use }) => `${path} ${use}`);
        assert.deepEqual(paths(["--audit-policy-file", "/etc/k0s/audit.yaml", "--v", "2"]), [
            "/etc/k0s/audit.yaml input",
        ]);
        assert.deepEqual(paths(["--tls-sni-cert-key=/a.crt,/a.key:*.example.org,b.example.org;/b.crt,/b.key"]), [
            "/a.crt input",
            "/a.key input",
            "/b.crt input",
            "/b.key input",
        ]);
    });

    it("are not names in etcd or of URLs, nor what is read inside pods", () => {
        const config = {
            spec: {
                api: { extraArgs: { "etcd-prefix": "/lab/registry" } },
                scheduler: { extraArgs: { "authorization-always-allow-paths": "/healthz,/metrics" } },
                network: {
                    kubeProxy: { rawArgs: ["--config=/var/lib/kube-proxy/config.conf"] },
                    kuberouter: { extraArgs: { "peer-router-passwords-file": "/etc/kube-router/passwords" } },
                },
            },
        };
        assert.deepEqual(referencesIn(config), []);
    });

    it("are the templates of keepalived", () => {
        const keepalived = { configTemplateVRRP: "/etc/k0s/vrrp.tmpl", configTemplateVS: "/etc/k0s/vs.tmpl" };
        const found = referencesIn({ spec: { network: { controlPlaneLoadBalancing: { keepalived } } } });
        assert.deepEqual(
            found.map(({ path, use }) => `${path} ${use}`),
            ["/etc/k0s/vrrp.tmpl input", "/etc/k0s/vs.tmpl input"],
        );
    });

    it("take every flag for a file that Kubernetes programs and etcd read", () => {
        const names = [
            ...["encryption-provider-config", "audit-policy-file", "admission-control-config-file", "client-ca-file"],
            ...["authentication-config", "authorization-config", "oidc-ca-file", "egress-selector-config-file"],
            ...["audit-webhook-config-file", "token-auth-file", "tracing-config-file", "kubelet-client-certificate"],
            ...["etcd-cafile", "etcd-certfile", "etcd-keyfile", "tls-private-key-file", "cloud-config", "kubeconfig"],
            ...["cluster-signing-key-file", "peer-trusted-ca-file", "kubelet-certificate-authority"],
        ];
        const extraArgs = Object.fromEntries(names.map((name) => [name, `/etc/${name}`]));
        const uses = referencesIn({ spec: { api: { extraArgs } } }).filter(({ use }) => use !== "input");
        assert.deepEqual(uses, []);
    });
});

describe("what k0s makes itself", () => {
    it("is its own part of pki, and what runs, but not what an administrator put beside it", () => {
        const made = ["ca.crt", "ca.key", "sa.key", "sa.pub", "server.key", "etcd/ca.key", "apiserver-etcd-client.crt"];
        for (const name of made) assert.ok(isMadeByK0s(`/var/lib/k0s/pki/${name}`, "/var/lib/k0s"), name);
        assert.ok(isMadeByK0s("/run/k0s/konnectivity-server.sock", "/var/lib/k0s"));
        for (const path of [
            "/var/lib/k0s/pki/oidc-ca.crt",
            "/var/lib/k0s/encryption.cfg",
            "/etc/pki/ca.crt",
            "/data/pki/ca.crt",
        ]) {
            assert.ok(!isMadeByK0s(path, "/var/lib/k0s"), path);
        }
    });
});

describe("the files that a configuration file names", () => {
    const named = (content: string): string[] => filesNamedIn("/etc/k0s/x.yaml", content).map(({ path }) => path);

    it("are the plugins of an AdmissionConfiguration, also relative to it, and what their configuration names", () => {
        const text = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: EventRateLimit
    path: eventratelimit.yaml
  - name: ImagePolicyWebhook
    configuration: { imagePolicy: { kubeConfigFile: /etc/k0s/hook.conf } }
  - name: PodSecurity
    configuration: { kind: PodSecurityConfiguration }
`;
        assert.deepEqual(named(text), ["/etc/k0s/eventratelimit.yaml", "/etc/k0s/hook.conf"]);
    });

    it("are the certificates of a kubeconfig, and the kubeconfig of an authorizer", () => {
        const kubeconfig = `
kind: Config
clusters: [{ name: a, cluster: { server: "https://x", certificate-authority: ca.pem } }]
users: [{ name: u, user: { client-certificate: /etc/u.crt, client-key: /etc/u.key, tokenFile: /etc/token } }]
`;
        assert.deepEqual(named(kubeconfig), ["/etc/k0s/ca.pem", "/etc/u.crt", "/etc/u.key", "/etc/token"]);
        const authorizer = `
kind: AuthorizationConfiguration
authorizers: [{ type: Webhook, webhook: { connectionInfo: { type: KubeConfigFile, kubeConfigFile: /etc/w.conf } } }]
`;
        assert.deepEqual(named(authorizer), ["/etc/w.conf"]);
    });

    it("are none where certificates are embedded, or where the text is no YAML", () => {
        assert.deepEqual(
            named("kind: AuthenticationConfiguration\njwt: [{ issuer: { certificateAuthority: a } }]"),
            [],
        );
        assert.deepEqual(named("kind: Config\ncaBundle: |\n  -----BEGIN CERTIFICATE-----\n  AAAA\n"), []);
        assert.deepEqual(named("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"), []);
        assert.deepEqual(named('{ "a": [ : }'), []);
        assert.deepEqual(named("\0\x01binary"), []);
    });
});
