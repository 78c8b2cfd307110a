import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeProvider } from "../../provider";
import { controller, worker } from "../../provider";
import { closeAll } from "../../provider/adapters/ssh/pool";
import { forgetControllers } from "../../provider/resource/known-controllers";
import type { Bag } from "../../provider/resource/shape";
import { LogLines } from "../matrix/log-lines";
import { RESOURCES, type SimHost, type Simulation, startSimulation } from ".";
import { checked, programOf } from "./program-of";

const FIXTURES = join(__dirname, "../../../test/fixtures/shapes");
const SPEED = 60;

/** One configuration as people write it, with what its header says of the machines around it. */
export interface Shape {
    readonly name: string;
    readonly why: string;
    readonly role: "controller" | "controller+worker";
    readonly flags: readonly string[];
    readonly node: ShapeNode;
    readonly text: string;
}

interface ShapeNode {
    /** The first controller has no k0s.yaml at all. */
    readonly file?: "absent";
    readonly configPath?: string;
    /** Its k0s.yaml is gone, and k0s runs on. */
    readonly gone?: boolean;
    /** All machines are on a second network, 10.0.1.0/24. */
    readonly two?: boolean;
    /** c1 is reached at an address that it does not have. */
    readonly nat?: boolean;
    readonly balancer?: string;
    /** On c1, with their content. */
    readonly files?: Readonly<Record<string, string>>;
    /** On c2 before it joins. */
    readonly c2files?: Readonly<Record<string, string>>;
    readonly dirs?: readonly string[];
    /** Programs of c1 that fail. */
    readonly failing?: Readonly<Record<string, string>>;
    readonly c1?: Bag;
    readonly c2?: Bag;
    readonly w1?: Bag;
    /** Paths of c2's k0s.yaml that are as in the file; that are not there; values that are there. */
    readonly keep?: readonly string[];
    readonly drop?: readonly string[];
    readonly value?: Readonly<Record<string, unknown>>;
    /** Files that c2 gets. */
    readonly copied?: readonly string[];
    /** Flags of c2's service. */
    readonly flag?: readonly string[];
    /** Text that c2's k0s.yaml does not hold. */
    readonly dropText?: string;
}

export function readShapes(): Shape[] {
    return readdirSync(FIXTURES)
        .sort()
        .map((file) => {
            const text = readFileSync(join(FIXTURES, file), "utf8");
            const header = (key: string): string => new RegExp(`^# ${key}: *(.*)$`, "m").exec(text)?.[1] ?? "";
            return {
                name: file.replace(/\.yaml$/, ""),
                why: header("why"),
                role: header("role") as Shape["role"],
                flags: header("flags")
                    .split(" ")
                    .filter((flag) => flag !== "")
                    .map((flag) => flag.replaceAll("\\x20", " ")),
                node: JSON.parse(header("node")) as ShapeNode,
                text,
            };
        });
}

export type Created = { readonly id: string; readonly outs: Bag };

/** A cluster of one controller with that configuration, and two blank machines. */
export class ShapeScene {
    private constructor(
        readonly shape: Shape,
        readonly sim: Simulation,
        private readonly log: LogLines,
    ) {}

    static async start(shape: Shape): Promise<ShapeScene> {
        forgetControllers();
        const sim = await startSimulation({ speed: SPEED, wobble: false });
        const log = new LogLines(/[cw]\d/);
        log.start();
        const scene = new ShapeScene(shape, sim, log);
        scene.furnish();
        return scene;
    }

    async close(): Promise<void> {
        this.log.stop();
        closeAll();
        forgetControllers();
        await this.sim.close();
    }

    /** What the program's log says of that node. */
    said(name: string): string {
        return this.log.of(name).join("\n");
    }

    create(name: "c1" | "c2" | "w1", more: Bag = {}): Promise<Created> {
        return this.createOf(name, { ...this.shape.node[name], ...more });
    }

    /** The k0s.yaml that the node has. */
    configOf(name: string): string {
        return this.sim.find(name).files.text("/etc/k0s/k0s.yaml") ?? "";
    }

    flagsOf(name: string): readonly string[] {
        return this.sim.find(name).units.installed?.args ?? [];
    }

    /** API server that the worker's Node is marked with. */
    serverOf(name: string): string | undefined {
        return this.sim.cluster.store.get(RESOURCES.nodes, name)?.metadata.annotations?.["pulumi-mke/api-server"];
    }

    /** Nothing was put there, and nothing was asked of the cluster but to be looked at. */
    changesOn(name: string): string[] {
        const { files, units } = this.sim.find(name);
        const changed = ["/etc/k0s", "/etc/pulumi-mke", "/var/lib/k0s"].filter((path) => files.exists(path));
        return units.installed === undefined ? changed : [...changed, "a service"];
    }

    private async createOf(name: string, more: Bag): Promise<Created> {
        const { kind, role } = this.roleOf(name);
        const program = programOf(this.sim, name, { role, ...more });
        return kind.create(await checked(kind, program));
    }

    private roleOf(name: string): { readonly kind: NodeProvider; readonly role: string | undefined } {
        return name.startsWith("w") ? { kind: worker, role: undefined } : { kind: controller, role: this.shape.role };
    }

    private furnish(): void {
        const { shape, sim } = this;
        const { node } = shape;
        const host = (name: string, last: number): SimHost =>
            sim.host(name, {
                address: `10.0.0.${last}`,
                addresses: node.two === true ? [`10.0.1.${last}`] : [],
            });
        const [c1, c2] = [host("c1", 11), host("c2", 12)];
        host("w1", 31);
        for (const user of ["etcd", "kube-apiserver"]) c1.users.add(user);
        for (const [path, content] of Object.entries(node.files ?? {})) c1.files.write(path, content);
        for (const [path, content] of Object.entries(node.c2files ?? {})) c2.files.write(path, content);
        for (const path of node.dirs ?? []) for (const one of [c1, c2]) one.files.mkdir(path);
        const ports = shape.text.includes(`${node.balancer}:8443`) ? { 8443: 6443 } : {};
        if (node.balancer !== undefined) sim.balancer(node.balancer, ["c1", "c2"], ports);
        if (node.nat === true) sim.balancer("10.0.9.11", ["c1"]);
        const configPath = node.file === "absent" ? "none" : node.configPath;
        const { role, flags, text } = shape;
        sim.bootstrapController("c1", text, { role, flags, ...(configPath !== undefined && { configPath }) });
        for (const [program, words] of Object.entries(node.failing ?? {})) c1.failing.set(program, words);
        if (node.gone === true) c1.files.remove(node.configPath ?? "");
    }
}
