import { stringify } from "yaml";
import { type Leaf, TestCa } from "../../support/pki";

/** What a k0s cluster has of certificates; one serving certificate does for all its controllers. */
export interface ClusterPki {
    readonly ca: string;
    readonly etcdCa: string;
    /** Groups `system:masters`, as in `admin.conf`. */
    readonly admin: Leaf;
    readonly kubelet: Leaf;
    readonly apiServer: Leaf;
    readonly etcdServer: Leaf;
    readonly etcdClient: Leaf;
}

const SERVER_NAMES = ["localhost", "127.0.0.1", "kubernetes", "kubernetes.default.svc"];

export async function createPki(): Promise<ClusterPki> {
    const [ca, etcdCa] = await Promise.all([TestCa.create("kubernetes-ca"), TestCa.create("etcd-ca")]);
    const [admin, kubelet, apiServer, etcdServer, etcdClient] = await Promise.all([
        ca.issue("O=system:masters, CN=kubernetes-admin"),
        ca.issue("O=system:nodes, CN=system:node"),
        ca.issue("CN=kubernetes", SERVER_NAMES),
        etcdCa.issue("CN=etcd-server", SERVER_NAMES),
        etcdCa.issue("CN=apiserver-etcd-client"),
    ]);
    return { ca: ca.cert, etcdCa: etcdCa.cert, admin, kubelet, apiServer, etcdServer, etcdClient };
}

/** Clusters for which certificates are ready in every simulation. */
const READY = 3;

let shared: Promise<readonly ClusterPki[]> | undefined;

/**
 * Certificates are made asynchronously, clusters at one moment: some are kept ready. The first clusters of every simulation
 * of this process have the same ones, which saves making them; clusters of one simulation never share any.
 */
export class PkiPool {
    private constructor(private readonly ready: ClusterPki[]) {}

    static async filled(): Promise<PkiPool> {
        shared ??= Promise.all(Array.from({ length: READY }, createPki));
        return new PkiPool([...(await shared)]);
    }

    take(): ClusterPki {
        const pki = this.ready.shift();
        if (pki === undefined) throw new Error("the simulation has no certificates left for another cluster");
        if (this.ready.length === 0) void createPki().then((next) => this.ready.push(next));
        return pki;
    }
}

/** A kubeconfig as k0s writes `admin.conf` and `kubelet.conf`. */
export function kubeconfig(server: string, ca: string, { cert, key }: Leaf): string {
    return stringify(
        {
            apiVersion: "v1",
            kind: "Config",
            clusters: [{ name: "local", cluster: { server, "certificate-authority-data": base64(ca) } }],
            contexts: [{ name: "Default", context: { cluster: "local", user: "user" } }],
            "current-context": "Default",
            users: [
                { name: "user", user: { "client-certificate-data": base64(cert), "client-key-data": base64(key) } },
            ],
        },
        { lineWidth: 0 },
    );
}

export function base64(text: string): string {
    return Buffer.from(text).toString("base64");
}
