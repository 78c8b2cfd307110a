import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as pulumi from "@pulumi/pulumi";
import type { SimHost, Simulation } from "../sim";

/** What a cloud tells of an instance. */
interface Made {
    readonly id: string;
    readonly address: string;
}

/**
 * A cloud whose instances are simulated machines: makes a blank one, or ends one. The provider of `Machine` runs in another
 * process, so it is asked by HTTP.
 */
export class Cloud {
    /** Machines that were ended, each with what k0s or we had left on it. */
    readonly ended: { readonly name: string; readonly left: readonly string[] }[] = [];
    private made = 0;

    private constructor(
        private readonly sim: Simulation,
        private readonly server: Server,
        /** Given to the first one that is made: a machine that is there already. */
        private readonly first: string,
        private readonly onMade: (sim: Simulation) => void,
    ) {}

    static async start(sim: Simulation, first: string, onMade: (sim: Simulation) => void = () => {}): Promise<Cloud> {
        const server = createServer((request, response) => {
            const [, action = "", id = ""] = (request.url ?? "").split("/");
            response.end(JSON.stringify(action === "make" ? cloud.make() : cloud.end(id)));
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

    private make(): Made {
        this.made += 1;
        const host =
            this.made === 1
                ? this.sim.find(this.first)
                : this.sim.host(`m${this.made}`, { address: `10.77.1.${this.made}` });
        this.onMade(this.sim);
        return { id: host.name, address: host.address };
    }

    private end(id: string): object {
        const host = this.sim.find(id);
        this.ended.push({ name: id, left: leftOn(host) });
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
}

/** Its methods are stored as text: they may use nothing but what Node has. */
const machineProvider: pulumi.dynamic.ResourceProvider<MachineInputs & Partial<Made>, MachineInputs & Partial<Made>> = {
    async diff(_id, olds, news) {
        return { changes: olds.image !== news.image, replaces: olds.image === news.image ? [] : ["image"] };
    },
    async create(inputs) {
        const answer = await fetch(`${inputs.cloud}/make`, { method: "POST" });
        const made = (await answer.json()) as Made;
        return { id: made.id, outs: { cloud: inputs.cloud, image: inputs.image, address: made.address } };
    },
    async delete(id, { cloud }) {
        await fetch(`${cloud}/end/${id}`, { method: "POST" });
    },
};

/** An instance: a changed image replaces it, and the new one has another address. */
export class Machine extends pulumi.dynamic.Resource {
    declare readonly address: pulumi.Output<string>;

    constructor(name: string, args: MachineInputs, opts?: pulumi.CustomResourceOptions) {
        super(machineProvider, name, { ...args, address: undefined }, opts);
    }
}
