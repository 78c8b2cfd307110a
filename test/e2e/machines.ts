import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as pulumi from "@pulumi/pulumi";
import type { SimHost, Simulation } from "../sim";

/** What a cloud tells of an instance. */
interface Made {
    readonly id: string;
    readonly address: string;
}

interface Refused {
    readonly refused: string;
}

/**
 * A cloud whose instances are simulated machines: makes a blank one, or ends one. At a fixed address the first instance is the
 * machine that is there already, and each later one another machine, made only once the one before has ended. The provider
 * of `Machine` runs in another process, so it is asked by HTTP.
 */
export class Cloud {
    /** Machines that were ended, each with what k0s or we had left on it. */
    readonly ended: { readonly name: string; readonly left: readonly string[] }[] = [];
    /** Nothing can be made while it is. */
    isFull = false;
    private readonly instances = new Map<string, SimHost>();

    private constructor(
        private readonly sim: Simulation,
        private readonly server: Server,
        /** Given to the first one that is made: a machine that is there already. */
        private readonly first: string,
        private readonly onMade: (sim: Simulation) => void,
    ) {}

    static async start(sim: Simulation, first: string, onMade: (sim: Simulation) => void = () => {}): Promise<Cloud> {
        const server = createServer((request, response) => {
            const [, action = "", what = ""] = (request.url ?? "").split("/");
            // A connection that is kept may close just when the next request is sent.
            response.setHeader("connection", "close");
            response.end(JSON.stringify(action === "make" ? cloud.make(what) : cloud.end(what)));
        });
        const cloud: Cloud = new Cloud(sim, server, first, onMade);
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        return cloud;
    }

    get url(): string {
        return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    }

    close(): void {
        this.server.closeAllConnections();
        this.server.close();
    }

    /** `address`: "" for a new one. */
    private make(address: string): Made | Refused {
        if (this.isFull) return { refused: "there is no capacity" };
        const used = [...this.instances.values()];
        const host = address === "" ? this.newHost(used.length + 1) : this.hostAt(address);
        if (used.includes(host)) {
            if (host.powered) return { refused: `${address} is in use` };
            host.wipe();
        }
        const id = `i-${used.length + 1}`;
        this.instances.set(id, host);
        this.onMade(this.sim);
        return { id, address: host.address };
    }

    private newHost(count: number): SimHost {
        return count === 1 ? this.sim.find(this.first) : this.sim.host(`m${count}`, { address: `10.77.1.${count}` });
    }

    private hostAt(address: string): SimHost {
        const host = this.sim.hosts.find((candidate) => candidate.address === address);
        if (host === undefined) throw new Error(`no machine has the address ${address}`);
        return host;
    }

    private end(id: string): object {
        const host = this.instances.get(id);
        if (host === undefined) throw new Error(`there is no instance ${id}`);
        this.ended.push({ name: host.name, left: leftOn(host) });
        host.powerOff();
        return {};
    }
}

/** What a removal should have taken away. */
export function leftOn({ files, units }: SimHost): string[] {
    const ours = /^\/(var\/lib\/k0s|etc\/k0s|etc\/pulumi-mke|run\/k0s)\//;
    const unit = units.installed;
    return [...files.inventory().filter((path) => ours.test(path)), ...(unit === undefined ? [] : [unit.name])];
}

interface MachineInputs {
    readonly cloud: string;
    readonly image: string;
    /** Default: a new one for each instance. */
    readonly address?: string;
}

/** Its methods are stored as text: they may use nothing but what Node has. */
const machineProvider: pulumi.dynamic.ResourceProvider<MachineInputs & Partial<Made>, MachineInputs & Partial<Made>> = {
    async diff(_id, olds, news) {
        return { changes: olds.image !== news.image, replaces: olds.image === news.image ? [] : ["image"] };
    },
    async create(inputs) {
        const answer = await fetch(`${inputs.cloud}/make/${inputs.address ?? ""}`, { method: "POST" });
        const made = (await answer.json()) as Made & Partial<Refused>;
        if (made.refused !== undefined) throw new Error(made.refused);
        return { id: made.id, outs: { cloud: inputs.cloud, image: inputs.image, address: made.address } };
    },
    async delete(id, { cloud }) {
        const answer = await fetch(`${cloud}/end/${id}`, { method: "POST" });
        const { refused } = (await answer.json()) as Partial<Refused>;
        if (refused !== undefined) throw new Error(refused);
    },
};

/** An instance: a changed image replaces it. */
export class Machine extends pulumi.dynamic.Resource {
    declare readonly address: pulumi.Output<string>;

    constructor(name: string, args: MachineInputs, opts?: pulumi.CustomResourceOptions) {
        super(machineProvider, name, { address: undefined, ...args }, opts);
    }
}

/** `ec2.Instance` as the guides use it, of that cloud. */
export function ec2InstancesOf(cloud: string): new (...args: Ec2InstanceParameters) => Machine {
    return class extends Machine {
        get privateIp(): pulumi.Output<string> {
            return this.address;
        }

        constructor(...[name, { ami, privateIp }, options]: Ec2InstanceParameters) {
            super(name, { cloud, image: ami ?? "", address: privateIp ?? "" }, options);
        }
    };
}

type Ec2InstanceParameters = [name: string, args: Record<string, string>, options?: pulumi.CustomResourceOptions];
