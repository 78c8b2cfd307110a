import type { PulumiFn } from "@pulumi/pulumi/automation";
import { MkeControllerNode, MkeWorkerNode } from "pulumi-mke";
import { RESOURCES, type Simulation, type SimHost, startSimulation } from "../sim";
import { keptBackups } from "./kept-backups";
import { pictureOf } from "./picture";

/** What a step should have come to, by names. */
export interface Expected {
    readonly controllers: readonly string[];
    readonly workers: readonly string[];
}

/** A row of the etcd member table. */
export interface Member {
    readonly name: string;
    /** Hexadecimal, as etcdctl prints it. */
    readonly id: string;
    readonly address: string;
    readonly role: "leader" | "voter" | "learner";
}

export class UnexpectedError extends Error {}

const ADDRESSES = {
    c1: "10.77.0.11",
    c2: "10.77.0.12",
    c3: "10.77.0.13",
    w1: "10.77.0.21",
    w2: "10.77.0.22",
};
/** Where kubelets reach the API, whichever controllers there are. */
const BALANCER = "10.77.0.1";
const CONTROLLERS = ["c1", "c2", "c3"] as const;
/** In simulated seconds: a fresh Node wobbles for 5 to 8 s after its first minute. */
const SETTLING = 90;

type Name = keyof typeof ADDRESSES;

/** Five simulated machines, of which the first is the only controller of a cluster, and programs about them. */
export class Scene {
    /** Files of each machine as it was delivered. */
    private readonly delivered: ReadonlyMap<string, readonly string[]>;

    private constructor(private readonly sim: Simulation) {
        this.delivered = new Map(sim.hosts.map((host) => [host.name, filesOf(host)]));
    }

    static async start(): Promise<Scene> {
        const sim = await startSimulation();
        for (const [name, address] of Object.entries(ADDRESSES)) {
            sim.host(name, { address, ...(name === "c1" && { k0s: "v1.36.3+k0s.2" }) });
        }
        const scene = new Scene(sim);
        sim.bootstrapController("c1", { spec: { api: { externalAddress: BALANCER } } });
        sim.balancer(BALANCER, CONTROLLERS);
        return scene;
    }

    /** A program as a user writes it. The others depend on c1, which so is adopted first and, as the last controller, goes last. */
    program({ controllers, workers }: { controllers: readonly Name[]; workers: readonly Name[] }): PulumiFn {
        return () => {
            const cluster = { controllers: CONTROLLERS.map((name) => this.login(name)) };
            const first = new MkeControllerNode("c1", { cluster, ...this.login("c1"), onLastController: "reset" });
            const options = { dependsOn: first };
            for (const name of controllers.filter((other) => other !== "c1")) {
                new MkeControllerNode(name, { cluster, ...this.login(name) }, options);
            }
            for (const name of workers) {
                new MkeWorkerNode(name, { cluster, ...this.login(name), labels: { zone: "a" } }, options);
            }
            return Promise.resolve();
        };
    }

    /** Somebody logs in and stops k0s. */
    stopK0s(name: Name): void {
        this.sim.find(name).stopService();
    }

    runApplication(name: string, node: Name): void {
        this.sim.addPod(node, { name });
    }

    /** As etcd has them. None once the last controller was reset: nobody is left to ask. */
    members(): Member[] {
        if (!this.sim.hosts.some((host) => host.units.get("k0scontroller") !== undefined)) return [];
        const { leaderId } = this.sim.cluster.etcd;
        const rows = this.sim.members().map(({ id, name, peerAddress, learner }): Member => {
            const role = learner ? "learner" : id === leaderId ? "leader" : "voter";
            return { name, id: id.toString(16), address: peerAddress, role };
        });
        return rows.sort((a, b) => a.name.localeCompare(b.name));
    }

    /** To compare two moments: see `differences`. */
    picture(): readonly string[] {
        return pictureOf(this.sim);
    }

    /** Fails when etcd, Kubernetes or a machine is not as expected; answers what was found, in a sentence. */
    async verify(expected: Expected): Promise<string> {
        const nodes = [...expected.controllers, ...expected.workers].sort();
        this.sim.assertInvariants();
        const voters = this.members().filter(({ role }) => role !== "learner");
        same("etcd voters", namesOf(voters), expected.controllers);
        for (const kind of [RESOURCES.etcdMembers, RESOURCES.controlNodes]) {
            same(`${kind.kind} objects`, this.objects(kind), expected.controllers);
        }
        same("Nodes", this.objects(RESOURCES.nodes), nodes);
        const readyNodes = `Nodes ${nodes.join(" ")} Ready`;
        await this.sim.until(readyNodes, () => isSame(this.readyNodes(), nodes), SETTLING);
        const clean = this.sim.hosts.filter(({ name }) => !nodes.includes(name));
        this.assertClean(clean);
        const machines = clean.length === 0 ? "" : `; ${namesOf(clean).join(" ")} clean`;
        return `etcd voters ${expected.controllers.join(" ")}; ${readyNodes}${machines}`;
    }

    /** Fails unless every machine is as it was delivered, but for the backups that outlive the cluster on its last controller. */
    verifyEnd(): string {
        const { hosts } = this.sim;
        this.assertClean(hosts);
        const { backups } = this.look(this.sim.find("c1"));
        same("the cluster's last backup on c1", backups.filter(isLast), ["c1-before-remove"]);
        return `${namesOf(hosts).join(" ")} clean, as they were delivered; on c1 the last ${backups.length} backups stay`;
    }

    close(): Promise<void> {
        return this.sim.close();
    }

    private login(name: Name) {
        return { host: ADDRESSES[name], connection: this.sim.connectionArgs(name) };
    }

    private objects(kind: (typeof RESOURCES)[keyof typeof RESOURCES]): string[] {
        return this.sim.cluster.store.list(kind).map(({ metadata }) => metadata.name);
    }

    private readyNodes(): string[] {
        const isReady = (status: Record<string, unknown> | undefined): boolean =>
            ((status?.["conditions"] ?? []) as { type: string; status: string }[]).some(
                (condition) => condition.type === "Ready" && condition.status === "True",
            );
        const nodes = this.sim.cluster.store.list(RESOURCES.nodes);
        return nodes.filter(({ status }) => isReady(status)).map(({ metadata }) => metadata.name);
    }

    private assertClean(hosts: readonly SimHost[]): void {
        for (const host of hosts) {
            same(`units on ${host.name}`, host.units.installed === undefined ? [] : [host.units.installed.name], []);
            const { others, backups } = this.look(host);
            same(`files on ${host.name}`, others, this.delivered.get(host.name) ?? []);
            const isWorker = !CONTROLLERS.some((name) => name === host.name);
            if (isWorker) same(`backups on ${host.name}`, backups, []);
        }
    }

    private look(host: SimHost) {
        return keptBackups(filesOf(host), (path) => host.files.mode(path));
    }
}

/** Backups of one second are in no order. */
function isLast(backup: string): boolean {
    return backup.startsWith("c1-");
}

function namesOf(things: readonly { readonly name: string }[]): string[] {
    return things.map(({ name }) => name);
}

function same(what: string, found: readonly string[], expected: readonly string[]): void {
    if (isSame(found, expected)) return;
    throw new UnexpectedError(`${what}: found ${list(found)}, expected ${list(expected)}`);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
    return [...a].sort().join(" ") === [...b].sort().join(" ");
}

function list(names: readonly string[]): string {
    return names.length === 0 ? "none" : names.join(", ");
}

function filesOf({ files }: Pick<SimHost, "files">, folder = ""): string[] {
    return files.list(folder === "" ? "/" : folder).flatMap((name) => {
        const path = `${folder}/${name}`;
        return files.isDirectory(path) ? filesOf({ files }, path) : [path];
    });
}
