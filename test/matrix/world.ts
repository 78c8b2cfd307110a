import { controller, type NodeProvider, worker } from "../../provider";
import type { NodeKind } from "../../provider/inputs";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES, type Simulation, startSimulation, type SimHost } from "../sim";
import { hostEntry, SimMke } from "../sim/mke";
import { created } from "../sim/program-of";

/** Seconds for waits that end without their state, and for looking again at states that may pass. */
const IMPATIENCE = 1.5;

let worlds = 0;

/**
 * One simulated cluster with the node that a cell is about: controllers c1 and c2 and a third c3, or a worker w1. Addresses
 * are unique in this process, because the provider remembers connections and controllers by them.
 */
export class World {
    /** What the resource's state says; set by `adopt`. */
    state: { id: string; outs: Bag } | undefined;
    private mke: SimMke | undefined;

    private constructor(
        readonly sim: Simulation,
        readonly kind: NodeKind,
        /** Name of the resource, the first word of its log lines. */
        readonly resource: string,
        private readonly network: string,
    ) {}

    static async make(kind: NodeKind, speed: number): Promise<World> {
        worlds += 1;
        const number = worlds;
        const network = `10.${100 + Math.floor(number / 250)}.${number % 250}`;
        const sim = await startSimulation({ speed, seed: number, wobble: false });
        const world = new World(sim, kind, `matrix-${number}`, network);
        ["c1", "c2", world.name].forEach((name, index) => world.machine(name, 11 + index));
        sim.bootstrapController("c1");
        sim.addSettled("c2", "controller+worker");
        sim.addSettled(world.name, kind === "worker" ? "worker" : "controller+worker");
        const others = ["c1", "c2"].map((name) => hostEntry(sim.find(name).address));
        world.mke = new SimMke(sim.cluster, others);
        return world;
    }

    get name(): string {
        return this.kind === "worker" ? "w1" : "c3";
    }

    get target(): SimHost {
        return this.sim.find(this.name);
    }

    /** Whether MkeConfig lists the host. */
    get inMke(): boolean {
        return this.mke?.hosts.some((host) => addressOf(host) === this.target.address) ?? false;
    }

    /** As somebody who takes the host out of MkeConfig by hand. */
    forgetInMke(): void {
        this.mke?.edit((spec) => {
            spec["hosts"] = this.mke?.hosts.filter((host) => addressOf(host) !== this.target.address);
        });
    }

    get isRegistered(): boolean {
        return this.sim.cluster.store.get(RESOURCES.nodes, this.name) !== undefined;
    }

    get provider(): NodeProvider {
        return this.kind === "worker" ? worker : controller;
    }

    machine(name: string, last: number): SimHost {
        return this.sim.host(name, { address: `${this.network}.${last}` });
    }

    /** The node becomes a resource in state, as it would long before anything happens to it. */
    async adopt(): Promise<void> {
        this.state = await this.create({});
    }

    async create(timeouts: Readonly<Record<string, number>>): Promise<{ id: string; outs: Bag }> {
        return created(this.provider, this.inputs(timeouts));
    }

    async delete(timeouts: Readonly<Record<string, number>>): Promise<void> {
        if (this.state === undefined) throw new Error("there is no resource to delete");
        const { id, outs } = this.state;
        await this.provider.delete(id, { ...outs, timeouts: { ...(outs["timeouts"] as Bag), ...timeouts } });
    }

    close(): Promise<void> {
        return this.sim.close();
    }

    private inputs(timeouts: Readonly<Record<string, number>>): Bag {
        const { sim } = this;
        const controllers = ["c1", "c2"].map((name) => ({
            host: sim.find(name).address,
            connection: sim.connectionArgs(name),
        }));
        return {
            host: this.target.address,
            connection: sim.connectionArgs(this.name),
            cluster: { controllers },
            owner: `organization/project/dev/${this.resource}`,
            ...(this.kind === "controller" && { backup: { skip: true } }),
            timeouts,
        };
    }
}

function addressOf(entry: unknown): string {
    return (entry as { readonly ssh: { readonly address: string } }).ssh.address;
}

/** Long enough for what ends well, whatever else this machine does. */
export const PATIENT = { leave: 60, ready: 60 } as const;

/** For cells that fail. */
export const IMPATIENT = { ready: IMPATIENCE } as const;

/** For waits in vain: of an add for its Node, of a removal for etcd and its object. */
export const IN_VAIN = { add: { ready: IMPATIENCE }, remove: { leave: IMPATIENCE, ready: 60 } } as const;
