import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { type Machine, on } from "./machines";

/** A user of the API writes about this often, and gives an API server this long. Milliseconds. */
const PAUSE = 50;
const PATIENCE = 3000;
const PATH = "/api/v1/namespaces/default/configmaps";
const NAME = "written";

export interface Written {
    readonly writes: number;
    /** Attempts that an API server did not accept. */
    readonly failures: number;
    /** Longest time between two writes that succeeded, in seconds. */
    readonly longestGap: number;
}

interface Kubeconfig {
    readonly clusters: readonly [{ readonly cluster: Record<string, string> }];
    readonly users: readonly [{ readonly user: Record<string, string> }];
}

/** Writes a ConfigMap all the time, through whichever controller takes it: what a user of the API notices. */
export class Writer {
    private stopped = false;
    private turn = 0;
    private writes = 0;
    private failures = 0;
    private longestGap = 0;
    private readonly running: Promise<void>;

    private constructor(
        private readonly agent: Agent,
        private readonly servers: () => readonly Machine[],
    ) {
        this.running = this.run();
    }

    /** With the administrator's kubeconfig of that machine. */
    static async start(admin: Machine, servers: () => readonly Machine[]): Promise<Writer> {
        const { clusters, users } = parse(await on(admin, "cat /var/lib/k0s/pki/admin.conf")) as Kubeconfig;
        const text = (base64 = ""): Buffer => Buffer.from(base64, "base64");
        const agent = new Agent({
            keepAlive: true,
            ca: text(clusters[0].cluster["certificate-authority-data"]),
            cert: text(users[0].user["client-certificate-data"]),
            key: text(users[0].user["client-key-data"]),
        });
        return new Writer(agent, servers);
    }

    get written(): Written {
        const { writes, failures, longestGap } = this;
        return { writes, failures, longestGap };
    }

    async stop(): Promise<void> {
        this.stopped = true;
        await this.running;
        this.agent.destroy();
    }

    private async run(): Promise<void> {
        let before = performance.now();
        const takeGap = (): void => {
            const now = performance.now();
            this.longestGap = Math.max(this.longestGap, (now - before) / 1000);
            before = now;
        };
        while (!this.stopped) {
            if (await this.write()) {
                this.writes += 1;
                takeGap();
            } else {
                this.failures += 1;
                this.turn += 1;
            }
            await sleep(PAUSE);
        }
        takeGap();
    }

    private async write(): Promise<boolean> {
        const servers = this.servers();
        const server = servers[this.turn % servers.length];
        if (server === undefined) return false;
        const patch = { data: { count: String(this.writes) } };
        const status = await this.send(server, "PATCH", `${PATH}/${NAME}`, patch);
        if (status !== 404) return status === 200;
        return (await this.send(server, "POST", PATH, { metadata: { name: NAME } })) === 201;
    }

    /** The status of the answer; undefined where there was none. */
    private send({ address }: Machine, method: string, path: string, body: object): Promise<number | undefined> {
        const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
        const options = { host: address, port: 6443, path, method, headers, agent: this.agent };
        return new Promise((resolve) => {
            const asked = request({ ...options, signal: AbortSignal.timeout(PATIENCE) }, (answer) => {
                answer.resume();
                answer.once("close", () => resolve(answer.complete ? answer.statusCode : undefined));
            });
            asked.once("error", () => resolve(undefined));
            asked.end(JSON.stringify(body));
        });
    }
}
