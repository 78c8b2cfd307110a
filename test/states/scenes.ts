import type { PulumiFn } from "@pulumi/pulumi/automation";
import { type ConnectionArgs, MkeControllerNode, MkeWorkerNode } from "pulumi-mke";
import { type Simulation, startSimulation } from "../sim";

/** Machines of every scene, by their names in the simulation; c1 is the first controller. */
export const MACHINES = { c1: "10.77.0.11", c2: "10.77.0.12", c3: "10.77.0.13", w1: "10.77.0.21" } as const;
export type Machine = keyof typeof MACHINES;

/** Where kubelets reach the API, whichever controllers there are. */
const BALANCER = "10.77.0.1";
const SPEED = 30;

export interface Scene {
    /** Resources of its program, by the machine they are for. */
    readonly controllers: readonly Machine[];
    readonly workers: readonly Machine[];
    /** Machines on which `install-service` fails, so that their add never ends. */
    readonly half: readonly Machine[];
    /** Machines on which somebody stopped k0s before a refresh. */
    readonly stopped: readonly Machine[];
    /** `status` of each resource in the recorded state. */
    readonly status: Readonly<Partial<Record<Machine, string>>>;
}

/**
 * What is recorded of each release. Never change a scene of a release that was recorded: its program must stay what it was.
 * Add another one instead.
 */
export const SCENES = {
    joined: {
        controllers: ["c1", "c2", "c3"],
        workers: ["w1"],
        half: [],
        stopped: [],
        status: { c1: "ready", c2: "ready", c3: "ready", w1: "ready" },
    },
    degraded: {
        controllers: ["c1"],
        workers: ["w1"],
        half: [],
        stopped: ["w1"],
        status: { c1: "ready", w1: "degraded" },
    },
    joining: {
        controllers: ["c1", "c2"],
        workers: ["w1"],
        half: ["c2", "w1"],
        stopped: [],
        status: { c1: "ready", c2: "joining", w1: "joining" },
    },
} as const satisfies Readonly<Record<string, Scene>>;

export type SceneName = keyof typeof SCENES;

/** Machines of which none but c1 belongs to the cluster; `machineIds`: those they had when the state was recorded. */
export async function startMachines(machineIds: Readonly<Partial<Record<string, string>>> = {}): Promise<Simulation> {
    const sim = await startSimulation({ speed: SPEED });
    for (const [name, address] of Object.entries(MACHINES)) {
        const machineId = machineIds[name];
        sim.host(name, { address, ...(machineId !== undefined && { machineId }) });
    }
    sim.bootstrapController("c1", { spec: { api: { externalAddress: BALANCER } } });
    sim.balancer(BALANCER, ["c1", "c2", "c3"]);
    return sim;
}

/** The program that the state was made with. The others depend on c1, which so is adopted first and goes last. */
export function programOf({ controllers, workers }: Scene, connection: ConnectionArgs): PulumiFn {
    const common = (name: Machine) => ({
        host: MACHINES[name],
        connection,
        cluster: { controllers: (["c1", "c2", "c3"] as const).map((each) => ({ host: MACHINES[each], connection })) },
        preflight: { os: false, minDiskMiB: false as const },
        timeouts: { connect: 60 },
    });
    return () => {
        const first = new MkeControllerNode("c1", { ...common("c1"), onLastController: "reset" });
        const options = { dependsOn: first };
        for (const name of controllers.filter((other) => other !== "c1")) {
            new MkeControllerNode(name, { ...common(name), installFlags: ["--debug"] }, options);
        }
        for (const name of workers) {
            new MkeWorkerNode(name, { ...common(name), labels: { zone: "a" }, drain: { timeout: 60 } }, options);
        }
        return Promise.resolve();
    };
}
