import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEtcd } from "../../provider/adapters/etcd/client";
import type { Etcd } from "../../provider/adapters/etcd";
import { loopbackHost } from "./loopback-host";
import { type Leaf, TestCa } from "./pki";
import { findProgram, freePorts, RunningProgram, temporaryFolder } from "./program";

const START_LIMIT = 30_000;
/** A free port may be taken by somebody's outgoing connection before etcd listens on it. */
const ATTEMPTS = 3;

const etcdProgram = findProgram("etcd");

export interface EtcdServer {
    readonly name: string;
    readonly clientPort: number;
    readonly peerPort: number;
    readonly process: RunningProgram;
}

/** Real etcd members with TLS on loopback, with certificates like k0s's. */
export class EtcdCluster {
    readonly members: EtcdServer[] = [];
    private readonly folder = temporaryFolder("etcd");

    private constructor(
        readonly ca: TestCa,
        readonly client: Leaf,
        private readonly server: Leaf,
    ) {}

    static async start(names: readonly string[]): Promise<EtcdCluster> {
        const ca = await TestCa.create("etcd-ca");
        const names_ = ["localhost", "127.0.0.1"];
        const [client, server] = [await ca.issue("CN=client", names_), await ca.issue("CN=server", names_)];
        for (let attempt = 1; ; attempt += 1) {
            const cluster = new EtcdCluster(ca, client, server);
            try {
                await cluster.run(names);
                return cluster;
            } catch (error) {
                await cluster.stop();
                if (attempt === ATTEMPTS) throw error;
            }
        }
    }

    private async run(names: readonly string[]): Promise<void> {
        const ports = await freePorts(names.length * 2);
        const planned = names.map((name, index) => ({
            name,
            clientPort: ports[2 * index] ?? 0,
            peerPort: ports[2 * index + 1] ?? 0,
        }));
        const initial = planned.map(({ name, peerPort }) => `${name}=https://127.0.0.1:${peerPort}`).join(",");
        // Once: a member that starts must not read a file that is just being written again.
        this.writeFiles();
        for (const member of planned) this.startMember(member, initial);
        for (const member of this.members) {
            const etcd = await this.connect(member);
            const answers = (): Promise<boolean> => etcd.members().then(({ members }) => members.length > 0);
            await member.process.until(answers, START_LIMIT).finally(() => etcd.close());
        }
    }

    /** Paths of files with what a client needs. */
    get files(): { readonly ca: string; readonly cert: string; readonly key: string } {
        return { ca: this.file("ca.crt"), cert: this.file("client.crt"), key: this.file("client.key") };
    }

    /** The provider's own client, as if through SSH on that member's host. */
    connect(member: EtcdServer, timeout = 5000): Promise<Etcd> {
        const credentials = {
            ca: Buffer.from(this.ca.cert),
            cert: Buffer.from(this.client.cert),
            key: Buffer.from(this.client.key),
        };
        const server = { host: "127.0.0.1", port: member.clientPort };
        return openEtcd(loopbackHost({ address: member.name }), credentials, { server, timeout });
    }

    async stop(): Promise<void> {
        await Promise.all(this.members.map((member) => member.process.stop()));
        this.folder.remove();
    }

    private startMember({ name, clientPort, peerPort }: Omit<EtcdServer, "process">, initial: string): void {
        const clientUrl = `https://127.0.0.1:${clientPort}`;
        const peerUrl = `https://127.0.0.1:${peerPort}`;
        const [cert, key, ca] = [this.file("server.crt"), this.file("server.key"), this.file("ca.crt")];
        const process = new RunningProgram(etcdProgram ?? "etcd", [
            `--name=${name}`,
            `--data-dir=${this.file(name)}`,
            `--listen-client-urls=${clientUrl}`,
            `--advertise-client-urls=${clientUrl}`,
            `--listen-peer-urls=${peerUrl}`,
            `--initial-advertise-peer-urls=${peerUrl}`,
            `--initial-cluster=${initial}`,
            ...["--client-cert-auth", `--cert-file=${cert}`, `--key-file=${key}`, `--trusted-ca-file=${ca}`],
            ...["--peer-client-cert-auth", `--peer-cert-file=${cert}`, `--peer-key-file=${key}`],
            `--peer-trusted-ca-file=${ca}`,
            "--unsafe-no-fsync",
        ]);
        this.members.push({ name, clientPort, peerPort, process });
    }

    private writeFiles(): void {
        const contents = {
            "ca.crt": this.ca.cert,
            "server.crt": this.server.cert,
            "server.key": this.server.key,
            "client.crt": this.client.cert,
            "client.key": this.client.key,
        };
        for (const [name, content] of Object.entries(contents))
            writeFileSync(this.file(name), content, { mode: 0o600 });
    }

    private file(name: string): string {
        return join(this.folder.path, name);
    }
}
