import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tracesOn } from "./inspect";
import type { Lab } from "./lab";
import { bootMachine, c1, c2, c3, destroyMachine, type Machine, machineAt } from "./machines";

/** Last byte of the address of the n-th machine that is made. */
const FIRST_BYTE = 30;
/** Whose addresses an instance may be given. */
const FIXED = [c1, c2, c3];

/**
 * A cloud whose instances are machines of the lab, for the resource `Machine` of `test/e2e/machines.ts`: boots one, or ends
 * one, and its disk with it. At a fixed address the first instance is the lab's machine, and each later one another machine,
 * made only once the one before has ended. The provider of that resource runs in another process, so it is asked by HTTP.
 */
export class LabCloud {
    /** Machines that were ended, each with what k0s or we had left on it. */
    readonly ended: { readonly machine: Machine; readonly left: readonly string[] }[] = [];
    private readonly instances = new Map<string, Machine>();
    private made = 0;

    private constructor(
        private readonly lab: Lab,
        private readonly server: Server,
    ) {}

    /** Who asks first for a new machine is given the lab's first controller, which is there already. */
    static async start(lab: Lab): Promise<LabCloud> {
        const server = createServer((request, response) => {
            const [, action = "", what = ""] = (request.url ?? "").split("/");
            response.setHeader("connection", "close");
            const done = action === "make" ? cloud.make(what) : cloud.end(what);
            done.then(
                (answer) => response.end(JSON.stringify(answer)),
                (error: unknown) => response.end(JSON.stringify({ refused: String(error) })),
            );
        });
        const cloud: LabCloud = new LabCloud(lab, server);
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        return cloud;
    }

    get url(): string {
        return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    }

    /** Instances that have not been ended, as in the lab's list of controllers. */
    get machines(): readonly Machine[] {
        return this.lab.controllers;
    }

    close(): void {
        this.server.closeAllConnections();
        this.server.close();
    }

    /** `address`: "" for a new one. */
    private async make(address: string): Promise<{ readonly id: string; readonly address: string }> {
        this.made += 1;
        const id = `i-${this.made}`;
        const machine = address === "" ? this.nextMachine() : machineOn(address);
        if ([...this.instances.values()].includes(machine)) throw new Error(`${address} is in use`);
        const isThere = this.machines.includes(machine);
        if (!isThere) await bootMachine(machine);
        await this.lab.placeImage(machine);
        if (!isThere) this.lab.controllers.push(machine);
        this.instances.set(id, machine);
        return { id, address: machine.address };
    }

    private nextMachine(): Machine {
        const next = machineAt(`m${this.made}`, FIRST_BYTE + this.made);
        return this.made === 1 ? (this.lab.controllers[0] ?? next) : next;
    }

    private async end(id: string): Promise<object> {
        const machine = this.instances.get(id);
        if (machine === undefined || !this.instances.delete(id)) throw new Error(`there is no instance ${id}`);
        this.lab.controllers.splice(this.lab.controllers.indexOf(machine), 1);
        this.ended.push({ machine, left: await tracesOn(machine) });
        await destroyMachine(machine);
        return {};
    }
}

function machineOn(address: string): Machine {
    const machine = FIXED.find((candidate) => candidate.address === address);
    if (machine === undefined) throw new Error(`no machine has the address ${address}`);
    return machine;
}
