import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tracesOn } from "./inspect";
import type { Lab } from "./lab";
import { bootMachine, destroyMachine, type Machine, machineAt } from "./machines";

/** Last byte of the address of the n-th machine that is made. */
const FIRST_BYTE = 30;

/**
 * A cloud whose instances are machines of the lab, for the resource `Machine` of `test/e2e/machines.ts`: boots one, or ends
 * one. The provider of that resource runs in another process, so it is asked by HTTP.
 */
export class LabCloud {
    /** Machines that were ended, each with what k0s or we had left on it. */
    readonly ended: { readonly machine: Machine; readonly left: readonly string[] }[] = [];
    private made = 0;

    private constructor(
        private readonly lab: Lab,
        private readonly server: Server,
    ) {}

    /** The lab's first controller is given to the first one who asks: a machine that is there already. */
    static async start(lab: Lab): Promise<LabCloud> {
        const server = createServer((request, response) => {
            const [, action = "", name = ""] = (request.url ?? "").split("/");
            const done = action === "make" ? cloud.make() : cloud.end(name);
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

    private async make(): Promise<{ readonly id: string; readonly address: string }> {
        this.made += 1;
        const [first] = this.lab.controllers;
        if (this.made === 1 && first !== undefined) return { id: first.name, address: first.address };
        const machine = machineAt(`m${this.made}`, FIRST_BYTE + this.made);
        await bootMachine(machine);
        await this.lab.placeImage(machine);
        this.lab.controllers.push(machine);
        return { id: machine.name, address: machine.address };
    }

    private async end(name: string): Promise<object> {
        const index = this.lab.controllers.findIndex((machine) => machine.name === name);
        const [machine] = index < 0 ? [] : this.lab.controllers.splice(index, 1);
        if (machine === undefined) throw new Error(`no machine ${name}`);
        this.ended.push({ machine, left: await tracesOn(machine) });
        await destroyMachine(machine);
        return {};
    }
}
