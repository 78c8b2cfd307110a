import assert from "node:assert/strict";
import type { NodeProvider } from "../../provider";
import type { Bag } from "../../provider/resource/shape";
import type { Simulation } from "./simulation";

/** What a program says of that host: the controllers that run now, all reached through the bastion. */
export function programOf(sim: Simulation, name: string, more: Bag = {}): Bag {
    const controllers = sim.hosts.filter((host) => host.units.get("k0scontroller") !== undefined);
    return {
        host: sim.find(name).address,
        connection: sim.connectionArgs(name),
        cluster: {
            controllers: controllers.map((host) => ({ host: host.address, connection: sim.connectionArgs(host.name) })),
        },
        owner: `organization/project/stack/${name}`,
        ...more,
    };
}

/** The inputs as `check` answers them; it finds nothing wrong with them. */
export async function checked(kind: NodeProvider, program: Bag): Promise<Bag> {
    const { inputs, failures } = await kind.check({}, program);
    assert.deepEqual(failures, []);
    return inputs;
}

/** A resource of that program, as Pulumi makes it. */
export async function created(kind: NodeProvider, program: Bag): Promise<{ id: string; outs: Bag }> {
    return kind.create(await checked(kind, program));
}
