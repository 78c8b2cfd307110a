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
