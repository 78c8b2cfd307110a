import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "@pulumi/pulumi/automation";
import { k0sProgram, RESOURCES, type Simulation } from "../sim";
import { versionOfProgram } from "../sim/model/k0s-program";
import { root } from "../support/root";
import type { SceneName } from "./scenes";

const FOLDER = join(root, "test", "states");
/** What a removal looks at or takes away outside k0s's data directory. */
const KEPT_FILES = ["/etc/pulumi-mke/node.json", "/etc/k0s/k0s.yaml"];
const K0S_PATH = "/usr/local/bin/k0s";

/** A state as a release wrote it, and what there was of machines and Nodes, so that they can be set up again. */
export interface Recording {
    readonly release: string;
    readonly scene: SceneName;
    readonly machines: Readonly<Record<string, RecordedMachine>>;
    readonly nodes: Readonly<Record<string, RecordedNode>>;
    /** etcd member IDs, hexadecimal, by the name of the member. */
    readonly members: Readonly<Record<string, string>>;
    /** `pulumi stack export`: secrets are encrypted with the passphrase of `test/support/engine.ts`. */
    readonly state: Deployment;
}

export interface RecordedMachine {
    readonly machineId: string;
    /** Service of k0s; none on a machine that never got so far. */
    readonly unit?: string;
    /** Version of the k0s program that lies there. */
    readonly k0s?: string;
    /** Contents by path. */
    readonly files: Readonly<Record<string, string>>;
}

export interface RecordedNode {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
}

export function recordingOf(sim: Simulation, release: string, scene: SceneName, state: Deployment): Recording {
    return {
        release,
        scene,
        machines: Object.fromEntries(sim.hosts.map((host) => [host.name, machineOf(host)])),
        nodes: Object.fromEntries(
            sim.cluster.store
                .list(RESOURCES.nodes)
                .map(({ metadata: { name, labels = {}, annotations = {} } }) => [name, { labels, annotations }]),
        ),
        members: memberIds(sim),
        state: withoutPlaces(state),
    };
}

function machineOf(host: Simulation["hosts"][number]): RecordedMachine {
    const kept = KEPT_FILES.flatMap((path) => {
        const content = host.files.text(path);
        return content === undefined ? [] : [[path, content] as const];
    });
    const unit = host.units.installed?.name;
    const k0s = versionOfProgram(host.files.read(K0S_PATH));
    return {
        machineId: host.machineId,
        ...(unit !== undefined && { unit }),
        ...(k0s !== undefined && { k0s }),
        files: Object.fromEntries(kept),
    };
}

/** Where in which checkout a resource was registered says nothing of the release. */
function withoutPlaces(state: Deployment): Deployment {
    const text = JSON.stringify(state, (key, value: unknown) =>
        key === "sourcePosition" || key === "stackTrace" ? undefined : value,
    );
    return JSON.parse(text) as Deployment;
}

/** k0s runs on the machines on which it ran, in the cluster of the simulation. */
export function settleMachines(sim: Simulation, machines: Recording["machines"]): void {
    for (const [name, { unit }] of Object.entries(machines)) {
        if (unit === undefined || sim.find(name).units.installed !== undefined) continue;
        sim.addSettled(name, unit === "k0sworker" ? "worker" : "controller+worker");
    }
}

/** Our marks on machines and Nodes. */
export function mark(sim: Simulation, { machines, nodes }: Pick<Recording, "machines" | "nodes">): void {
    for (const [name, { k0s, files }] of Object.entries(machines)) {
        const host = sim.find(name);
        if (k0s !== undefined) host.files.write(K0S_PATH, k0sProgram(k0s), 0o755);
        for (const [path, content] of Object.entries(files)) host.files.write(path, content, 0o600);
    }
    for (const [name, recorded] of Object.entries(nodes)) {
        sim.world.act(() =>
            sim.cluster.store.update(RESOURCES.nodes, name, ({ metadata }) => Object.assign(metadata, recorded)),
        );
    }
}

export function memberIds(sim: Simulation): Record<string, string> {
    return Object.fromEntries(sim.members().map(({ name, id }) => [name, id.toString(16)]));
}

/** All recorded releases, oldest first. */
export function releases(): string[] {
    return readdirSync(FOLDER, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
        .sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
}

export function readRecording(release: string, scene: SceneName): Recording {
    return JSON.parse(readFileSync(fileOf(release, scene), "utf8")) as Recording;
}

/** Answers the path of the file. */
export function writeRecording(recording: Recording): string {
    mkdirSync(join(FOLDER, recording.release), { recursive: true });
    const path = fileOf(recording.release, recording.scene);
    writeFileSync(path, `${JSON.stringify(recording, null, 2)}\n`, { flag: "wx" });
    return path;
}

function fileOf(release: string, scene: SceneName): string {
    return join(FOLDER, release, `${scene}.json`);
}
