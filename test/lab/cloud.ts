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
 * one, and its disk with it. A machine at a fixed address is made only once the one before has ended. The provider of that
 * resource runs in another process, so it is asked by HTTP.
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

    /** The lab's first controller is given to the first one who asks: a machine that is there already. */
    static async start(lab: Lab): Promise<LabCloud> {
        const server = createServer((request, response) => {
            const [, action = "", what = ""] = (request.url ?? "").split("/");
            const done = action === "make" ? cloud.make(what) : cloud.end(what);
            done.then(
                (answer) => response.end(JSON.stringify(answer)),
                // Broken off: the resource must fail.
                (error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))),
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
        const machine = this.made === 1 ? this.lab.controllers[0] : undefined;
        const made = machine ?? (await this.boot(address === "" ? this.newMachine() : machineOn(address)));
        this.instances.set(id, made);
        return { id, address: made.address };
    }

    private newMachine(): Machine {
        return machineAt(`m${this.made}`, FIRST_BYTE + this.made);
    }

    private async boot(machine: Machine): Promise<Machine> {
        if (this.machines.includes(machine)) throw new Error(`${machine.address} is in use`);
        await bootMachine(machine);
        await this.lab.placeImage(machine);
        this.lab.controllers.push(machine);
        return machine;
    }

    private async end(id: string): Promise<object> {
        const machine = this.instances.get(id);
        const index = this.lab.controllers.findIndex((candidate) => candidate === machine);
        if (machine === undefined || index < 0) throw new Error(`there is no instance ${id}`);
        this.lab.controllers.splice(index, 1);
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
