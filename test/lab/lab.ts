import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "mocha";
import { MkeControllerNode, type MkeControllerNodeArgs, MkeWorkerNode, type MkeWorkerNodeArgs } from "pulumi-mke";
import { Engine, type UpSummary } from "../support/engine";
import { findPulumi } from "../support/find-pulumi";
import { type Balancer, startBalancer } from "./balancer";
import * as machines from "./machines";
import { c1, c2, c3, GATEWAY, type Machine, w1 } from "./machines";

/** Beside the first controller, which is never a resource. */
export interface Wanted {
    readonly controllers: readonly Machine[];
    readonly workers?: readonly Machine[];
    /** Inputs of the controllers that are not as usual. */
    readonly more?: Partial<MkeControllerNodeArgs>;
    /** The same of the workers. */
    readonly moreOfWorkers?: Partial<MkeWorkerNodeArgs>;
}

/** What this kind of machine needs: no images can be pulled, and cgroup v1 is common on hosts of machines in machines. */
export const WORKER_FLAGS = ["--ignore-pre-flight-checks=true", "--profile=lab"];
export const CONTROLLER_FLAGS = [
    ...WORKER_FLAGS,
    "--disable-components=konnectivity-server,coredns,kube-proxy,network-provider,metrics-server,helm,update-prober,windows-node",
];
const CONTROLLERS = [c1, c2, c3];
/** Seconds. A machine that lost its power is not waited for as long as one that boots. */
const TIMEOUTS = { connect: 15 };

/** Real machines with the first controller of a cluster, and a stack of the real Pulumi engine. */
export class Lab {
    private constructor(
        readonly engine: Engine,
        private readonly privateKey: string,
        private readonly balancers: readonly Balancer[],
        private readonly folder: string,
    ) {}

    static async start(cli: string): Promise<Lab> {
        await machines.destroyLab();
        const folder = await mkdtemp(join(tmpdir(), "pulumi-mke-lab-"));
        await machines.makeImage(join(folder, "image.tar"));
        for (const machine of [...CONTROLLERS, w1]) await machines.bootMachine(machine);
        await machines.placeImage(c1, join(folder, "image.tar"));
        const balancers = await Promise.all([6443, 9443].map(balance));
        await machines.startFirstController(c1, GATEWAY);
        console.log(`lab: k0s ${(await machines.on(c1, "k0s version")).trim()}`);
        const engine = await Engine.start(cli, { name: "lab", show: (text) => process.stdout.write(text) });
        return new Lab(engine, await machines.labKey(), balancers, folder);
    }

    /** `pulumi up` of a program with these nodes. */
    async up(wanted: Wanted): Promise<UpSummary> {
        for (const machine of [...wanted.controllers, ...(wanted.workers ?? [])])
            await machines.placeImage(machine, join(this.folder, "image.tar"));
        return this.engine.up(() => this.program(wanted));
    }

    /** What `pulumi up` said when it failed. Line breaks do not matter. */
    async refusalOf(wanted: Wanted): Promise<string> {
        try {
            await this.up(wanted);
        } catch (error) {
            return String(error).replace(/\s+/g, " ");
        }
        throw new Error("pulumi up was expected to fail");
    }

    /** All that was printed since the lab was started. */
    get said(): string {
        return this.engine.output.join("");
    }

    async close(): Promise<void> {
        await this.engine.close();
        await Promise.all(this.balancers.map((balancer) => balancer.close()));
        await machines.destroyLab();
        await rm(this.folder, { recursive: true, force: true });
    }

    private program({ controllers, workers = [], more = {}, moreOfWorkers = {} }: Wanted): Promise<void> {
        const connection = { user: "root", privateKey: this.privateKey };
        const common = {
            connection,
            cluster: { controllers: CONTROLLERS.map(({ address }) => ({ host: address, connection })) },
            preflight: { cgroupV2: false, minDiskMiB: false as const },
            timeouts: TIMEOUTS,
        };
        for (const { name, address } of controllers) {
            const args = { ...common, host: address, installFlags: CONTROLLER_FLAGS, ...more };
            new MkeControllerNode(name, args);
        }
        for (const { name, address } of workers) {
            const args = { ...common, host: address, installFlags: WORKER_FLAGS, labels: { zone: "a" } };
            new MkeWorkerNode(name, { ...args, ...moreOfWorkers });
        }
        return Promise.resolve();
    }
}

/** The external address of the API: all controllers, whichever of them are up. */
function balance(port: number): Promise<Balancer> {
    return startBalancer({ host: GATEWAY, port }, () => CONTROLLERS.map(({ address }) => ({ host: address, port })));
}

const pulumi = process.env["K0S_BINARY"] === undefined ? undefined : findPulumi();
let shared: Promise<Lab> | undefined;
let users = 0;

/** Scenes on the lab, which all files of a run share: it starts before the first of them and ends after the last. */
export function describeOnLab(title: string, scenes: (lab: () => Lab) => void): void {
    if (pulumi === undefined) return;
    users += 1;
    describe(title, function () {
        this.timeout("30m");
        this.bail(true);
        let lab: Lab | undefined;

        before("starts the lab", async () => {
            lab = await (shared ??= startOrCleanUp(pulumi));
        });
        after("ends the lab", async () => {
            users -= 1;
            if (users === 0) await endLab();
        });
        scenes(() => {
            if (lab === undefined) throw new Error("the lab has not started");
            return lab;
        });
    });
}

async function startOrCleanUp(cli: string): Promise<Lab> {
    try {
        return await Lab.start(cli);
    } catch (error) {
        shared = undefined;
        await machines.destroyLab();
        throw error;
    }
}

async function endLab(): Promise<void> {
    const lab = await shared;
    shared = undefined;
    await lab?.close();
}

/** A scene that failed ends the run before the last file. */
after(async function () {
    this.timeout("2m");
    await endLab();
});
