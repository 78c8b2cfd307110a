import { after, before } from "mocha";
import { controller, type NodeProvider, worker } from "../../provider";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { DEFAULT_TIMING } from "../../provider/lock/timing";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { RESOURCES, type SimEvent, type SimHost, type Simulation, startSimulation } from "../sim";
import { K0sDaemon } from "../sim/k0s/daemon";
import type { KubeObject } from "../sim/model/store";
import { checked, created } from "../sim/program-of";
import { logAt } from "./log-level";
import { LOOKING } from "./looking";

/** Simulated seconds a cluster needs to come to rest: fresh Nodes wobble, k0s follows etcd, Nodes turn NotReady. */
const SETTLING = 90;
/** Last part of each machine's address. Every world has a network and a seed of its own: several run side by side. */
const ADDRESSES: Readonly<Record<string, number>> = { c1: 11, c2: 12, c3: 13, w1: 31 };
let worlds = 0;
const open = new Set<World>();

/** A simulated cluster of c1 and some of c2, c3 and w1, and the provider as Pulumi drives it. */
export class World {
    private constructor(readonly sim: Simulation) {
        open.add(this);
    }

    /** `settled`: nodes that exist; the other machines are blank. `clockSkew`: seconds that all are ahead of this process. */
    static async start(settled: readonly string[], speed = 40, clockSkew = 0): Promise<World> {
        worlds += 1;
        const sim = await startSimulation({ speed, wobble: false, seed: worlds, clockSkew });
        for (const [name, last] of Object.entries(ADDRESSES)) {
            sim.host(name, { address: `10.${78 + Math.floor(worlds / 250)}.${worlds % 250}.${last}` });
        }
        sim.bootstrapController("c1");
        for (const name of settled) sim.addSettled(name, name.startsWith("w") ? "worker" : "controller+worker");
        return new World(sim);
    }

    static kindOf(name: string): NodeProvider {
        return name.startsWith("w") ? worker : controller;
    }

    inputs(name: string, more: Bag = {}): Bag {
        const helpers = ["c1", "c2", "c3"].filter((one) => one !== name && !one.startsWith("w"));
        return {
            host: this.sim.find(name).address,
            connection: this.sim.connectionArgs(name),
            cluster: { controllers: helpers.map((one) => this.login(one)) },
            owner: `organization/project/stack/${name}`,
            preflight: { os: false, minDiskMiB: false },
            ...(name.startsWith("w") ? {} : { allowStrandedWorkers: true }),
            ...more,
        };
    }

    async checked(name: string, more: Bag = {}): Promise<Bag> {
        return checked(World.kindOf(name), this.inputs(name, more));
    }

    async create(name: string, more: Bag = {}): Promise<{ id: string; outs: Bag }> {
        return created(World.kindOf(name), this.inputs(name, more));
    }

    async refresh(name: string, { id, outs }: { id: string; outs: Bag }): Promise<Bag> {
        const { props } = await World.kindOf(name).read(id, outs);
        if (props === undefined) throw new Error(`${name} is gone`);
        return props;
    }

    async update(name: string, id: string, outs: Bag, more: Bag = {}): Promise<Bag> {
        return (await World.kindOf(name).update(id, outs, await this.checked(name, more))).outs;
    }

    /** The last one that is open takes along what this process keeps of all of them. */
    async close(): Promise<void> {
        this.sim.onEvent(undefined);
        await this.sim.close();
        open.delete(this);
        if (open.size > 0) return;
        closeAll();
        forgetControllers();
    }

    /** Lets everything come to rest that still moves by itself. */
    async rest(): Promise<void> {
        const end = this.sim.now + SETTLING;
        await this.sim.until("the cluster is at rest", () => this.sim.now > end, SETTLING * 2);
    }

    /** Everything that must be the same however often an operation was interrupted: names, not IDs. */
    snapshot(): object {
        const { sim } = this;
        const { store } = sim.cluster;
        const found = {
            members: sim
                .members()
                .map(({ name, peerAddress, learner }) => `${name} at ${peerAddress}, ${learner}`)
                .sort(),
            etcdMembers: store.list(RESOURCES.etcdMembers).map(({ metadata, spec, status }) => ({
                name: metadata.name,
                spec,
                annotations: metadata.annotations ?? {},
                joined: (status?.["conditions"] as { status?: string }[] | undefined)?.[0]?.status,
            })),
            controlNodes: namesOf(store.list(RESOURCES.controlNodes)),
            nodes: store.list(RESOURCES.nodes).map(({ metadata: { name, annotations = {}, labels = {} }, spec }) => ({
                name,
                cordoned: spec?.["unschedulable"] === true,
                taints: spec?.["taints"],
                annotations: Object.keys(annotations).sort(),
                labels: Object.keys(labels).sort(),
            })),
            leases: namesOf(store.list(RESOURCES.leases)),
            hosts: Object.fromEntries(sim.hosts.map((host) => [host.name, hostOf(host)])),
        };
        return JSON.parse(JSON.stringify(found).replaceAll(NETWORK, "10.77.0.")) as object;
    }

    private login(name: string): Bag {
        return { host: this.sim.find(name).address, connection: this.sim.connectionArgs(name) };
    }
}

function namesOf(objects: readonly { readonly metadata: { readonly name: string } }[]): string[] {
    return objects.map(({ metadata }) => metadata.name).sort();
}

function hostOf(host: SimHost): object {
    const { files, units } = host;
    const marker = files.text("/etc/pulumi-mke/node.json");
    const { operation } = JSON.parse(marker ?? "{}") as { operation?: unknown };
    const { name, active, enabled, args = [], command } = units.installed ?? {};
    const token = files.text("/etc/k0s/k0stoken");
    const { daemon } = units;
    return {
        unit: name === undefined ? "none" : `${name} ${active ?? ""} ${enabled === true ? "enabled" : "disabled"}`,
        args,
        // As systemd has read them, as the file says, and with what k0s runs.
        command,
        runs: daemon instanceof K0sDaemon ? [daemon.config.args, daemon.config.raw] : "nothing",
        config: files.text("/etc/k0s/k0s.yaml"),
        files: filesIn(host, "/").filter((path) => !PASSING.some((directory) => path.startsWith(directory))),
        marked: marker === undefined ? "no" : operation === undefined ? "yes" : `with ${JSON.stringify(operation)}`,
        // The test's own scene leaves a whole token on nodes that were always there.
        token: token === undefined ? "absent" : token.startsWith("#") ? "blank" : "token",
    };
}

function filesIn(host: SimHost, directory: string): string[] {
    return host.files.list(directory).flatMap((name) => {
        const path = directory === "/" ? `/${name}` : `${directory}/${name}`;
        return host.files.isDirectory(path) ? filesIn(host, path) : [path];
    });
}

/** What a run leaves there says when it ran: a second run makes more backups, the oldest go. */
const PASSING = ["/run/", "/var/lib/pulumi-mke/backups/"];

/** A moment of an operation at which it can be killed: the k-th time that this was done. */
export interface Moment {
    readonly what: string;
    readonly nth: number;
}

/** Counts the changes that an operation makes, anywhere, and kills it at one of them. */
export class Watch {
    readonly moments: Moment[] = [];
    hasKilled = false;
    private readonly counts = new Map<string, number>();
    private readonly leases = new Map<string, string>();

    constructor(
        private readonly sim: Simulation,
        private readonly at: Moment | undefined,
        private readonly besides: () => void = () => undefined,
    ) {
        sim.onEvent((event) => this.saw(event));
    }

    private saw(event: SimEvent): void {
        if (!isChange(event) || this.isRenewal(event)) return;
        const what = nameOf(event);
        const nth = (this.counts.get(what) ?? 0) + 1;
        this.counts.set(what, nth);
        this.moments.push({ what, nth });
        if (what !== this.at?.what || nth !== this.at.nth) return;
        this.hasKilled = true;
        this.sim.onEvent(undefined);
        // After what is being done now, and before anybody hears of it.
        this.sim.cutOff(true);
        queueMicrotask(this.besides);
    }

    /** A Lease that is written again as it was: whether that comes to pass depends on how fast this machine is. */
    private isRenewal({ kind, what, values }: SimEvent): boolean {
        if (kind !== "api-write" || !/^(POST|PUT) .*\/leases\b/.test(what)) return false;
        const { metadata, spec } = JSON.parse(values?.["body"] ?? "{}") as Partial<KubeObject>;
        const { name = "", annotations } = metadata ?? {};
        const said = JSON.stringify([annotations, spec?.["holderIdentity"], spec?.["leaseDurationSeconds"]]);
        const isSame = this.leases.get(name) === said;
        this.leases.set(name, said);
        return isSame;
    }
}

/** The part of an address that differs from world to world. */
const NETWORK = /\b10\.\d+\.\d+\.(?=\d)/g;

const CHANGES: readonly SimEvent["kind"][] = ["stream", "api-write", "etcd-write", "etcd", "object", "node"];

function isChange({ kind, what }: SimEvent): boolean {
    return CHANGES.includes(kind) || (kind === "program" && !LOOKING.has(what));
}

/** Without what differs from run to run: IDs, and the number in the name of a temporary file. */
function nameOf({ kind, host, what, values }: SimEvent): string {
    const detail = values?.["ACTION"] ?? values?.["FILE"] ?? "";
    const text = `${kind} ${host ?? ""} ${what} ${detail}`.trim();
    return text
        .replace(/\b[0-9a-f]{12,16}\b/g, "ID")
        .replace(/(?<=-upload-)\w+/g, "TMP")
        .replace(NETWORK, "10.77.0.");
}

/** Runs it to its kill, and answers the error that nobody hears of. The lock is as after a killed process. */
export async function killed(world: World, action: () => Promise<unknown>): Promise<unknown> {
    try {
        return await action().then(
            () => undefined,
            (error: unknown) => error,
        );
    } finally {
        world.sim.onEvent(undefined);
        world.sim.cutOff(false);
    }
}

/** For a file of tests that kill: the killed give up their lock at once, which no killed process does. */
export function impatientLocks(): void {
    const { retryEvery, releaseFor } = DEFAULT_TIMING;
    before(() => void Object.assign(DEFAULT_TIMING, { retryEvery: 10, releaseFor: 0 }));
    after(() => void Object.assign(DEFAULT_TIMING, { retryEvery, releaseFor }));
}

/** Runs it for each, some of them side by side; answers in their order. */
export async function sideBySide<T, R>(all: readonly T[], limit: number, action: (one: T) => Promise<R>): Promise<R[]> {
    const results: R[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
        for (let index = next++; index < all.length; index = next++) results[index] = await action(all[index] as T);
    };
    await Promise.all(Array.from({ length: limit }, lane));
    return results;
}

/** Names of the stages that an action carries out, in order, those with nothing to do among them. */
export async function stagesOf(action: () => Promise<unknown>): Promise<string[]> {
    const lines = await linesOf(action);
    return lines.flatMap((line) => /^[^:]+: (?<stage>.+?) … .* after [\d.]+ s$/.exec(line)?.groups?.["stage"] ?? []);
}

/** All that a log can tell is printed meanwhile, and answered. Nothing else may run in this process. */
export async function linesOf(action: () => Promise<unknown>): Promise<string[]> {
    const written: string[] = [];
    const { stdout } = process;
    const write = stdout.write.bind(stdout);
    const backToLevel = logAt();
    stdout.write = (text: string | Uint8Array): boolean => {
        written.push(String(text));
        return true;
    };
    try {
        await action();
    } finally {
        stdout.write = write;
        backToLevel();
    }
    return written.join("").split("\n");
}
