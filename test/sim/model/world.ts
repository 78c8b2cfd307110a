import type { SimCluster } from "../k0s/cluster";
import type { SimClock } from "./clock";
import type { EventLog } from "./events";
import type { SimHost } from "./host";
import type { Network } from "./network";
import type { PkiPool } from "./pki";
import type { Random } from "./random";
import type { Daemon, Unit } from "./units";
import type { Duplex } from "node:stream";

/** What all parts of one simulation share. */
export interface World {
    readonly clock: SimClock;
    readonly random: Random;
    readonly events: EventLog;
    readonly network: Network;
    readonly pkis: PkiPool;
    readonly clusters: SimCluster[];
    /** Content by URL, for hosts that download. */
    readonly downloads: Map<string, Buffer>;
    /** Fresh Nodes go NotReady once, as real ones do. */
    readonly wobble: boolean;
    /** Seconds that the clocks of all machines are ahead of this process's. */
    readonly clockSkew: number;
    /** Servers that take connections to a controller's ports. */
    readonly servers: {
        api(host: SimHost, stream: Duplex): void;
        etcd(host: SimHost, stream: Duplex): void;
    };
    newDaemon(unit: Unit): Daemon;
    act<T>(action: () => T): T;
    /** Power, firewall or a hung process: quorum may have been lost or won. */
    connectivityChanged(): void;
    /** All open connections of that machine break. */
    disconnect(host: SimHost): void;
}
