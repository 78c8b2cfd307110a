import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Kube } from "../../provider/adapters/kube";
import { openKube } from "../../provider/adapters/kube/client";
import type { KubeCredentials } from "../../provider/adapters/kube/credentials";
import { KubeTransport } from "../../provider/adapters/kube/transport";
import { EtcdCluster } from "./etcd-server";
import { loopbackHost } from "./loopback-host";
import { TestCa } from "./pki";
import { findProgram, freePort, RunningProgram, temporaryFolder } from "./program";
import { fixture } from "./fixtures";

const START_LIMIT = 90_000;
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** What it runs on. */
export const KUBE_SERVER_PARTS = ["etcd", "kube-apiserver"] as const;
const kubeProgram = findProgram("kube-apiserver");

/** A real kube-apiserver on a real etcd, with the CRDs of k0s, and an admin's credentials. */
export class KubeServer {
    private readonly folder = temporaryFolder("kube");
    private readonly processes: RunningProgram[] = [];

    private constructor(
        readonly etcd: EtcdCluster,
        readonly port: number,
        readonly credentials: KubeCredentials,
    ) {}

    static async start(): Promise<KubeServer> {
        const [etcd, ca, port] = await Promise.all([EtcdCluster.start(["c1"]), TestCa.create(), freePort()]);
        const admin = await ca.issue("O=system:masters, CN=kubernetes-admin");
        const server = new KubeServer(etcd, port, { ca: ca.cert, ...admin });
        try {
            await server.run(ca);
            return server;
        } catch (error) {
            await server.stop();
            throw error;
        }
    }

    /** As k0s writes it to `pki/admin.conf`. */
    get adminConf(): string {
        const encode = (text: string): string => Buffer.from(text).toString("base64");
        const { ca, cert, key } = this.credentials;
        return stringify({
            apiVersion: "v1",
            kind: "Config",
            clusters: [
                {
                    name: "local",
                    cluster: { server: `https://localhost:${this.port}`, "certificate-authority-data": encode(ca) },
                },
            ],
            contexts: [{ name: "Default", context: { cluster: "local", user: "user" } }],
            "current-context": "Default",
            users: [
                { name: "user", user: { "client-certificate-data": encode(cert), "client-key-data": encode(key) } },
            ],
        });
    }

    /** The provider's own client. */
    kube(timeout = 10_000): Kube {
        return openKube(loopbackHost({}), this.credentials, { server: this.address, timeout });
    }

    /** A request as it comes, for what the provider's client does not do. */
    async request(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<unknown> {
        const transport = new KubeTransport(loopbackHost({}), this.address, this.credentials, 10_000);
        try {
            const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
            const { status, text } = await transport.send({ method, path, contentType, body });
            if (status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
            return JSON.parse(text) as unknown;
        } finally {
            transport.close();
        }
    }

    async stop(): Promise<void> {
        await Promise.all(this.processes.map((process) => process.stop()));
        await this.etcd.stop();
        this.folder.remove();
    }

    private get address(): { readonly host: string; readonly port: number } {
        return { host: "127.0.0.1", port: this.port };
    }

    private async run(ca: TestCa): Promise<void> {
        const process = new RunningProgram(kubeProgram ?? "kube-apiserver", await this.args(ca));
        this.processes.push(process);
        const kube = this.kube(2000);
        const ready = async (): Promise<boolean> => (await kube.isReady("/readyz")) && (await kube.clusterId()) !== "";
        await process.until(ready, START_LIMIT).finally(() => kube.close());
        for (const name of ["crd-etcdmembers.json", "crd-controlnodes.json"]) {
            await this.request("POST", CRDS, fixture(name));
        }
        await process.until(() => this.servesCrds(), START_LIMIT);
    }

    private async servesCrds(): Promise<boolean> {
        await this.request("GET", "/apis/etcd.k0sproject.io/v1beta1/etcdmembers");
        await this.request("GET", "/apis/autopilot.k0sproject.io/v1beta2/controlnodes");
        return true;
    }

    private async args(ca: TestCa): Promise<string[]> {
        const serving = await ca.issue("CN=kubernetes", ["localhost", "127.0.0.1", "kubernetes"]);
        const etcd = this.etcd.files;
        return [
            `--etcd-servers=https://127.0.0.1:${this.etcd.members[0]?.clientPort}`,
            `--etcd-cafile=${etcd.ca}`,
            `--etcd-certfile=${etcd.cert}`,
            `--etcd-keyfile=${etcd.key}`,
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            `--secure-port=${this.port}`,
            `--client-ca-file=${this.write("ca.crt", ca.cert)}`,
            `--tls-cert-file=${this.write("server.crt", serving.cert)}`,
            `--tls-private-key-file=${this.write("server.key", serving.key)}`,
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--service-account-issuer=https://kubernetes.default.svc",
            ...this.serviceAccountArgs(),
            "--disable-admission-plugins=ServiceAccount",
            `--cert-dir=${this.folder.path}`,
        ];
    }

    private serviceAccountArgs(): string[] {
        const { privateKey, publicKey } = generateKeyPairSync("ec", {
            namedCurve: "P-256",
            privateKeyEncoding: { type: "pkcs8", format: "pem" },
            publicKeyEncoding: { type: "spki", format: "pem" },
        });
        return [
            `--service-account-key-file=${this.write("sa.pub", publicKey)}`,
            `--service-account-signing-key-file=${this.write("sa.key", privateKey)}`,
        ];
    }

    private write(name: string, content: string): string {
        const path = join(this.folder.path, name);
        writeFileSync(path, content, { mode: 0o600 });
        return path;
    }
}
