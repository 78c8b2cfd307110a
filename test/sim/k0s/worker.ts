import type { Duplex } from "node:stream";
import { parse } from "yaml";
import { httpsUrl, serverOf } from "../model/address";
import { kubeconfig } from "../model/pki";
import { TIMING } from "../timing";
import type { SimCluster } from "./cluster";
import { K0sDaemon } from "./daemon";
import { Kubelet } from "./kubelet";
import { tokenServer } from "./node-config";
import { decodeToken } from "./token";

const RETRY = 5;
/** The kubelet's own where the cluster has node-local load balancing; kubelet.conf stays as it is (k0s 1.36.3, nllb). */
export const NLLB_KUBECONFIG = "/run/k0s/nllb/kubeconfig.yaml";
const NODE_LOCAL = "https://127.0.0.1:7443";

interface Kubeconfig {
    readonly clusters?: readonly { readonly cluster?: Readonly<Record<string, string>> }[];
}

/** `k0s worker`: bootstrap with the token, or start with the kubeconfig it has. */
export class WorkerDaemon extends K0sDaemon {
    private kubelet: Kubelet | undefined;

    listener(port: number): ((stream: Duplex) => void) | undefined {
        return port === 10250 && this.kubelet?.running === true ? (stream) => this.ignore(stream) : undefined;
    }

    /** At once as it is long after it joined: for setting the scene. */
    settle(cluster: SimCluster): SimCluster {
        const [controller] = cluster.daemons;
        if (controller === undefined) throw new Error("a worker needs a controller");
        const { host, port } = tokenServer(controller.config, "worker");
        this.writeFiles(cluster, httpsUrl(host, port));
        this.newKubelet(cluster).settle();
        this.statusAnswers = true;
        return cluster;
    }

    protected run(): void {
        this.later(this.world.random.within(TIMING.workerRegisters), () => this.bootstrap());
    }

    protected stopped(): void {
        this.host.files.remove(NLLB_KUBECONFIG);
        this.kubelet?.stop();
    }

    private bootstrap(): void {
        const known = this.host.files.text(`${this.config.dataDir}/kubelet.conf`);
        const token = decodeToken(this.tokenText());
        if (known === undefined && token === undefined) {
            return this.crashSoon(
                "Error: neither regular nor bootstrap kubeconfig files exist and no join token given; dunno how to make kubelet authenticate to API server",
            );
        }
        const server = known === undefined ? httpsUrl(token?.host ?? "", token?.port ?? 0) : serverIn(known);
        const cluster = this.clusterAt(server);
        const accepted = known !== undefined || (token !== undefined && cluster?.accepts(token) === true);
        if (cluster === undefined || !accepted) {
            this.unit.log(`failed to reach the API server ${server}`);
            return this.later(RETRY, () => this.bootstrap());
        }
        if (known !== undefined && caIn(known) !== cluster.pki.ca) {
            return this.crashSoon(
                "Error: the k0s worker node credentials are invalid, the node needs to be rejoined into the cluster with a fresh bootstrap token",
            );
        }
        this.writeFiles(cluster, server);
        this.newKubelet(cluster).start(TIMING.workerReady);
        this.later(TIMING.workerReady + TIMING.workerStatus, () => (this.statusAnswers = true));
    }

    private writeFiles(cluster: SimCluster, server: string): void {
        const { files } = this.host;
        const { dataDir, kubeletRootDir } = this.config;
        files.write(`${dataDir}/kubelet.conf`, kubeconfig(server, cluster.pki.ca, cluster.pki.kubelet), 0o600);
        files.write(`${dataDir}/worker-profile.yaml`, "{}\n");
        files.write("/run/k0s/kubelet/ca.crt", cluster.pki.ca);
        if (hasNodeLocal(cluster)) {
            files.write(NLLB_KUBECONFIG, kubeconfig(NODE_LOCAL, cluster.pki.ca, cluster.pki.kubelet), 0o600);
        }
        files.mkdir(kubeletRootDir);
    }

    private newKubelet(cluster: SimCluster): Kubelet {
        this.kubelet = new Kubelet(this.host, cluster, this.config, false);
        return this.kubelet;
    }

    private clusterAt(server: string): SimCluster | undefined {
        const { host, port } = serverOf(server);
        const route = this.world.network.route(this.host, host, port);
        if (route.verdict !== "open") return undefined;
        return this.world.clusters.find((one) => one.daemonAt(route.host) !== undefined && one.etcd.works);
    }

    private tokenText(): string | undefined {
        const { tokenFile } = this.config;
        return tokenFile === undefined ? undefined : this.host.files.text(tokenFile);
    }
}

/** Part of the worker profile, which the controllers make of the cluster's configuration. */
function hasNodeLocal({ daemons }: SimCluster): boolean {
    const [controller] = daemons;
    return controller?.config.raw.spec?.network?.nodeLocalLoadBalancing?.enabled === true;
}

function serverIn(text: string): string {
    return (parse(text) as Kubeconfig).clusters?.[0]?.cluster?.["server"] ?? "";
}

function caIn(text: string): string {
    const data = (parse(text) as Kubeconfig).clusters?.[0]?.cluster?.["certificate-authority-data"];
    return Buffer.from(data ?? "", "base64").toString();
}
