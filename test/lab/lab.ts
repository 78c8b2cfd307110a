import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "mocha";
import type { Input } from "@pulumi/pulumi";
import type { UpOptions } from "@pulumi/pulumi/automation";
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
    /** Inputs of that controller alone. */
    readonly own?: (machine: Machine) => Partial<MkeControllerNodeArgs>;
    /** Inputs of the workers that are not as usual. */
    readonly moreOfWorkers?: Partial<MkeWorkerNodeArgs>;
}

export interface LabOptions {
    /** The machines that are or become controllers; the first of them is the cluster's first controller. */
    readonly controllers: readonly Machine[];
    /** Without an external address of the API, what joins depends on the controller that made the token. Default true. */
    readonly external?: boolean;
    /** The API listens on its address alone, not on loopback. Default false. */
    readonly onlyBindToAddress?: boolean;
}

/** What this kind of machine needs: no images can be pulled, and cgroup v1 is common on hosts of machines in machines. */
export const WORKER_FLAGS = ["--ignore-pre-flight-checks=true", "--profile=lab"];
export const CONTROLLER_FLAGS = [
    ...WORKER_FLAGS,
    "--disable-components=konnectivity-server,coredns,kube-proxy,network-provider,metrics-server,helm,update-prober,windows-node",
];
/** Seconds. A machine that lost its power is not waited for as long as one that boots. */
const TIMEOUTS = { connect: 15 };

/** Real machines with the first controller of a cluster, and a stack of the real Pulumi engine. */
export class Lab {
    private constructor(
        readonly engine: Engine,
        private readonly privateKey: string,
        private readonly balancers: readonly Balancer[],
        private readonly folder: string,
        /** Behind the external address; a test that makes and ends machines keeps it up to date. */
        readonly controllers: Machine[],
    ) {}

    static async start(cli: string, options: LabOptions = { controllers: [c1, c2, c3] }): Promise<Lab> {
        const { external = true, onlyBindToAddress } = options;
        const controllers = [...options.controllers];
        const [first] = controllers;
        if (first === undefined) throw new Error("a lab needs a first controller");
        await machines.destroyLab();
        const folder = await mkdtemp(join(tmpdir(), "pulumi-mke-lab-"));
        await machines.makeImage(join(folder, "image.tar"));
        for (const machine of [...controllers, w1]) await machines.bootMachine(machine);
        await machines.placeImage(first, join(folder, "image.tar"));
        const balancers = external ? await Promise.all([6443, 9443].map((port) => balance(port, controllers))) : [];
        const externalAddress = external ? GATEWAY : undefined;
        await machines.startFirstController(first, { externalAddress, onlyBindToAddress });
        console.log(`lab: k0s ${(await machines.on(first, "k0s version")).trim()}`);
        const engine = await Engine.start(cli, { name: "lab", show: (text) => process.stdout.write(text) });
        return new Lab(engine, await machines.labKey(), balancers, folder, controllers);
    }

    /** `pulumi up` of a program with these nodes. */
    async up(wanted: Wanted, options: Pick<UpOptions, "refresh"> = {}): Promise<UpSummary> {
        for (const machine of [...wanted.controllers, ...(wanted.workers ?? [])]) await this.placeImage(machine);
        return this.engine.up(() => this.program(wanted), options);
    }

    /** Gives a blank machine the image of the lab's pods. */
    placeImage(machine: Machine): Promise<void> {
        return machines.placeImage(machine, join(this.folder, "image.tar"));
    }

    /** What `pulumi up` said when it failed. Line breaks do not matter. */
    async refusalOf(wanted: Wanted, options: Pick<UpOptions, "refresh"> = {}): Promise<string> {
        try {
            await this.up(wanted, options);
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

    get connection(): { readonly user: string; readonly privateKey: string } {
        return { user: "root", privateKey: this.privateKey };
    }

    /** Inputs of every node in the lab; `helpers`: addresses of its controllers. */
    inputs(helpers: readonly Input<string>[]): Omit<MkeWorkerNodeArgs, "host"> {
        const { connection } = this;
        return {
            connection,
            cluster: { controllers: helpers.map((host) => ({ host, connection })) },
            preflight: { cgroupV2: false, minDiskMiB: false as const },
            timeouts: TIMEOUTS,
        };
    }

    private program({
        controllers,
        workers = [],
        more = {},
        own = () => ({}),
        moreOfWorkers = {},
    }: Wanted): Promise<void> {
        const common = this.inputs(this.controllers.map(({ address }) => address));
        for (const machine of controllers) {
            const args = { ...common, host: machine.address, installFlags: CONTROLLER_FLAGS, ...more, ...own(machine) };
            new MkeControllerNode(machine.name, args);
        }
        for (const { name, address } of workers) {
            const args = { ...common, host: address, installFlags: WORKER_FLAGS, labels: { zone: "a" } };
            new MkeWorkerNode(name, { ...args, ...moreOfWorkers });
        }
        return Promise.resolve();
    }
}

/** The external address of the API: all controllers, whichever of them are up. */
function balance(port: number, controllers: readonly Machine[]): Promise<Balancer> {
    return startBalancer({ host: GATEWAY, port }, () => controllers.map(({ address }) => ({ host: address, port })));
}

const pulumi = process.env["K0S_BINARY"] === undefined ? undefined : findPulumi();
let shared: Promise<Lab> | undefined;
let users = 0;

/** Scenes on the lab, which all files of a run share: it starts before the first of them and ends after the last. */
export function describeOnLab(title: string, scenes: (lab: () => Lab) => void): void {
    if (pulumi === undefined) return;
    users += 1;
    describeWith(title, scenes, {
        start: () => (shared ??= startOrCleanUp(pulumi)),
        end: async () => {
            users -= 1;
            if (users === 0) await endLab();
        },
    });
}

/** Scenes on a lab of their own, which ends with them; it takes the place of the shared one, as machines have one name each. */
export function describeOnOwnLab(title: string, options: LabOptions, scenes: (lab: () => Lab) => void): void {
    if (pulumi === undefined) return;
    describeWith(title, scenes, {
        start: async () => {
            await endLab();
            return startOrCleanUp(pulumi, options);
        },
        end: (lab) => lab.close(),
    });
}

interface LabOfScenes {
    readonly start: () => Promise<Lab>;
    readonly end: (lab: Lab) => Promise<void>;
}

function describeWith(title: string, scenes: (lab: () => Lab) => void, { start, end }: LabOfScenes): void {
    describe(title, function () {
        this.timeout("30m");
        this.bail(true);
        let lab: Lab | undefined;

        before("starts the lab", async () => {
            lab = await start();
        });
        after("ends the lab", async () => {
            if (lab !== undefined) await end(lab);
        });
        scenes(() => {
            if (lab === undefined) throw new Error("the lab has not started");
            return lab;
        });
    });
}

async function startOrCleanUp(cli: string, options?: LabOptions): Promise<Lab> {
    try {
        return await Lab.start(cli, options);
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
