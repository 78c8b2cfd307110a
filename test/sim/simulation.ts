import { createServer, type AddressInfo, type Server } from "node:net";
import type { Duplex } from "node:stream";
import type { SimCluster } from "./k0s/cluster";
import { ControllerDaemon } from "./k0s/controller";
import { WorkerDaemon } from "./k0s/worker";
import { SimClock } from "./model/clock";
import { type EtcdMember } from "./model/etcd";
import { EventLog, type SimEvent } from "./model/events";
import { type HostOptions, SimHost } from "./model/host";
import { Network } from "./model/network";
import { PkiPool } from "./model/pki";
import { Random } from "./model/random";
import { type KubeObject, RESOURCES } from "./model/store";
import type { World } from "./model/world";
import { brokenInvariants } from "./invariants";
import { type PodOptions, newPod } from "./pods";
import { type K0sConfig, restoreBackup, settle, type SettledRole, startJoin } from "./scene";
import { ApiServers } from "./servers/api-server";
import { Bastion } from "./servers/bastion";
import { EtcdServers } from "./servers/etcd-server";
import { parseKey, SshServer } from "./servers/ssh-server";
import { newSshKey } from "../support/ssh-key";

/** Seconds. */
const REAL_PATIENCE = 120;

export interface SimulationOptions {
    /** Simulated seconds for one real second; default 20. 0: time passes only by `advance`. */
    readonly speed?: number;
    /** Default 1. */
    readonly seed?: number;
    /** Fresh Nodes go NotReady once, 53–58 s after they registered; default true. */
    readonly wobble?: boolean;
    /** Seconds that the clocks of all machines are ahead of this process's, which is the operator's; default 0. */
    readonly clockSkew?: number;
}

/** How to log in, in the names of the provider's `connection` input. */
export interface SimConnection {
    readonly user: string;
    readonly port: number;
    readonly privateKey: string;
    readonly proxy?: {
        readonly host: string;
        readonly user: string;
        readonly port: number;
        readonly privateKey: string;
    };
}

export interface FirstController {
    readonly role?: "controller+worker" | "controller";
    /** Further ones of `k0s install`. */
    readonly flags?: readonly string[];
    /** Where its k0s.yaml lies; "none": it has none. */
    readonly configPath?: string;
}

/** Machines, clusters and the servers through which a client meets them: see `startSimulation`. */
export class Simulation {
    /** The only key that lets anybody in, except through the bastion. */
    privateKey: string;
    /** undefined: any user is let in. */
    private user: string | undefined;
    private readonly bastionKey: string;
    private readonly log: EventLog;
    private readonly api = new ApiServers(() => this.world);
    private readonly etcd = new EtcdServers(() => this.world);
    private readonly sshServers = new Map<SimHost, { readonly key: string; readonly server: SshServer }>();
    private readonly direct = new Map<SimHost, Server>();
    private bastionServer: Bastion | undefined;

    private constructor(
        /** The model itself, for tests that need more than the methods here. */
        readonly world: World,
        clientKey: string,
    ) {
        this.log = world.events;
        this.privateKey = clientKey;
        this.bastionKey = clientKey;
    }

    static async start({ speed = 20, seed = 1, wobble = true, clockSkew = 0 }: SimulationOptions): Promise<Simulation> {
        const clock = new SimClock(speed);
        const world: World = {
            clock,
            random: new Random(seed),
            events: new EventLog(clock),
            network: new Network(),
            pkis: await PkiPool.filled(),
            clusters: [],
            downloads: new Map(),
            wobble,
            clockSkew,
            servers: {
                api: (host, stream) => simulation.api.accept(host, stream),
                etcd: (host, stream) => simulation.etcd.accept(host, stream),
            },
            newDaemon: (unit) => (unit.name === "k0scontroller" ? new ControllerDaemon(unit) : new WorkerDaemon(unit)),
            act: (action) => clock.act(action),
            connectivityChanged: () => world.clusters.forEach(({ etcd }) => etcd.checkLeader()),
            disconnect: (host) => simulation.sshServers.get(host)?.server.disconnect(),
        };
        const key = newSshKey();
        const simulation: Simulation = new Simulation(world, key);
        simulation.bastionServer = await Bastion.start(world, newSshKey(), parseKey(key));
        return simulation;
    }

    /** What happened so far, oldest first. */
    get events(): readonly SimEvent[] {
        return this.log.all;
    }

    /** Hears of each event as it happens; undefined: nobody does. */
    onEvent(listener: ((event: SimEvent) => void) | undefined): void {
        this.log.listener = listener;
    }

    /** As when a client's process is killed: its connections break and it does nothing more, until `cutOff(false)`. */
    cutOff(closed: boolean): void {
        this.bastionServer?.shut(closed);
    }

    /** Simulated seconds since the start. */
    get now(): number {
        return this.world.clock.now;
    }

    get hosts(): readonly SimHost[] {
        return this.world.network.hosts;
    }

    /** Where the bastion listens; all simulated addresses can be reached through it. */
    get bastion(): {
        readonly host: string;
        readonly user: string;
        readonly port: number;
        readonly privateKey: string;
    } {
        return { host: "127.0.0.1", user: "jump", port: this.bastionServer?.port ?? 0, privateKey: this.bastionKey };
    }

    /** All hosts take a new key from now on, and the old one no longer. */
    rotateKey(): void {
        this.privateKey = newSshKey();
        this.changeLogin();
    }

    /** All hosts let in this user from now on, and nobody else. */
    renameUser(user: string): void {
        this.user = user;
        this.changeLogin();
    }

    private changeLogin(): void {
        for (const { server } of this.sshServers.values()) server.disconnect();
        this.sshServers.clear();
    }

    /** The first cluster, which a program's controllers belong to. */
    get cluster(): SimCluster {
        const [cluster] = this.world.clusters;
        if (cluster === undefined) throw new Error("no controller was bootstrapped yet");
        return cluster;
    }

    /** A blank machine with sshd. */
    host(name: string, options: HostOptions): SimHost {
        const host = new SimHost(this.world, name, options);
        this.world.network.add(host);
        host.onSsh((stream) => this.acceptSsh(host, stream));
        return host;
    }

    find(name: string): SimHost {
        const host = this.hosts.find((candidate) => candidate.name === name);
        if (host === undefined) throw new Error(`there is no host ${name}`);
        return host;
    }

    /** Makes the first controller (and worker) of a new cluster on a blank machine, at once and long settled. */
    bootstrapController(
        name: string,
        config: K0sConfig = {},
        { role = "controller+worker", flags, configPath }: FirstController = {},
    ): SimCluster {
        const host = this.find(name);
        return this.world.act(() => settle(host, role, undefined, config, flags, configPath));
    }

    /** The same as a member or worker of the first cluster, without the way there. `flags`: further ones of `k0s install`. */
    addSettled(name: string, role: SettledRole, config: K0sConfig = {}, flags: readonly string[] = []): void {
        this.world.act(() => settle(this.find(name), role, this.cluster, config, flags));
    }

    /** Joins a machine by hand through that controller, with all the steps and waits of a real join. */
    startJoin(name: string, role: SettledRole, via: string, config: K0sConfig = {}): void {
        this.world.act(() => startJoin(this.find(name), role, this.find(via), config));
    }

    /** Sets `spec.leave` of an EtcdMember, as a client of the API would. */
    requestLeave(name: string): void {
        this.world.act(() =>
            this.cluster.store.update(RESOURCES.etcdMembers, name, (object) => (object.spec = { leave: true })),
        );
    }

    /** Through the bastion: works for all addresses, on all systems. */
    connectionArgs(name: string): SimConnection {
        this.find(name);
        return { user: this.user ?? "root", port: 22, privateKey: this.privateKey, proxy: this.bastion };
    }

    /** A port of its own on loopback for that host's sshd, without the bastion. */
    async directConnectionArgs(name: string): Promise<SimConnection & { readonly host: string }> {
        const host = this.find(name);
        const server =
            this.direct.get(host) ?? createServer({ noDelay: true }, (socket) => this.acceptSsh(host, socket));
        if (!server.listening) {
            this.direct.set(host, server);
            const address = host.address.startsWith("127.") ? host.address : "127.0.0.1";
            await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, address, resolve));
        }
        const { address, port } = server.address() as AddressInfo;
        return { host: address, user: this.user ?? "root", port, privateKey: this.privateKey };
    }

    members(): readonly EtcdMember[] {
        return this.cluster.etcd.members;
    }

    /** Sorted; "" for one that was never started. */
    memberNames(): string[] {
        return this.members()
            .map(({ name }) => name)
            .sort();
    }

    /** As `k0s etcd leave --peer-address` on another controller. */
    removeMemberFromOutside(id: bigint): void {
        this.world.act(() => this.cluster.etcd.remove(id));
    }

    /** From a backup: another etcd cluster id and other member IDs, all else as before. */
    restoreBackup(): void {
        this.world.act(() => restoreBackup(this.cluster));
    }

    /** The next leave of that controller comes to nothing: its k0s is killed in time and takes the request back. */
    revokeLeave(name: string): void {
        this.find(name).revokesNextLeave = true;
    }

    addPod(nodeName: string, options: PodOptions): KubeObject {
        return this.world.act(() => this.cluster.store.create(RESOURCES.pods, newPod(nodeName, options)));
    }

    /** Connections to that address go to whichever of these controllers runs; `ports`: its own, and where they lead. */
    balancer(address: string, names: readonly string[], ports: Readonly<Record<number, number>> = {}): void {
        this.world.network.balance(
            address,
            names.map((name) => this.find(name)),
            ports,
        );
    }

    advance(seconds: number): void {
        this.world.clock.advance(seconds);
    }

    /**
     * Waits until the simulation is in that state. Simulated seconds; fails after them, but where real time sets the pace not
     * before two minutes of that: what is waited for may be the work of a machine that is busy.
     */
    async until(what: string, isTrue: () => boolean, withinSeconds = 600): Promise<void> {
        const { clock } = this.world;
        const limit = Math.max(withinSeconds, REAL_PATIENCE * clock.speed);
        const end = clock.now + limit;
        while (!clock.act(isTrue)) {
            if (clock.now > end) throw new Error(`not seen within ${limit} simulated seconds: ${what}`);
            if (clock.speed === 0) clock.advance(0.1);
            else await new Promise((resolve) => setTimeout(resolve, 5));
        }
    }

    /** Fails with what must never be: no quorum, ghosts, second clusters, unknown programs; `except` what is meant to be. */
    assertInvariants(except?: RegExp): void {
        const broken = brokenInvariants(this.world).filter((sentence) => except?.test(sentence) !== true);
        if (broken.length > 0) throw new Error(`the simulation saw:\n${broken.join("\n")}`);
    }

    async close(): Promise<void> {
        this.world.clock.close();
        for (const { server } of this.sshServers.values()) server.disconnect();
        this.api.close();
        this.etcd.close();
        for (const server of this.direct.values()) server.close();
        await this.bastionServer?.close();
    }

    private acceptSsh(host: SimHost, stream: Duplex): void {
        if (!host.powered) return void stream.destroy();
        const known = this.sshServers.get(host);
        const current =
            known?.key === host.hostKey
                ? known
                : { key: host.hostKey, server: new SshServer(host, parseKey(this.privateKey), this.user) };
        this.sshServers.set(host, current);
        current.server.accept(stream);
    }
}
