/**
 * A simulated k0s cluster in this process: machines behind SSH, etcd by gRPC, the Kubernetes API over HTTPS, with the
 * recorded behaviour of k0s 1.36.3 in compressed time. No root, no other programs, Linux and macOS. See README.md.
 */
import { Simulation, type SimulationOptions } from "./simulation";

export { type K0sConfig, K0S_VERSION, type SettledRole } from "./scene";
export { Simulation, type SimConnection, type SimulationOptions } from "./simulation";
export type { PodOptions } from "./pods";
export { type FirewallRule, type HostOptions, SimHost } from "./model/host";
export { k0sProgram } from "./model/k0s-program";
export type { SimEvent } from "./model/events";
export { RESOURCES } from "./model/store";
export { TIMING } from "./timing";

export function startSimulation(options: SimulationOptions = {}): Promise<Simulation> {
    return Simulation.start(options);
}
