import { posix } from "node:path";
import type { DataFacts, HostFacts, UnitFacts } from "../facts/host";
import { valuesOf } from "../flags";
import type { Role } from "../inputs";
import { type Refusal, refuse } from "./refusal";
import { unitOf } from "./scenario";

/** Where k0s keeps everything (k0s 1.36.3, pkg/constant). */
const DATA_DIR = "/var/lib/k0s";

/** Absolute paths. */
export interface Directories {
    readonly dataDir: string;
    /** undefined: k0s is too old to have one of its own to choose, or to tell (before 1.31.8 and 1.32.1). */
    readonly kubeletRootDir: string | undefined;
}

/**
 * What k0s really runs with: what it says itself, or else what its service starts it with. undefined where neither of them is
 * there any more: then nothing is known, and nothing is compared.
 */
export function runningDirectories(host: HostFacts): Directories | undefined {
    return statedBy(host)[0]?.directories;
}

/** For state: what k0s runs with, where that is not what the program says; undefined where it is, or is not known. */
export function otherDirectories(host: HostFacts, role: Role): Directories | undefined {
    const running = runningDirectories(host);
    return running !== undefined && differences(host.data, role, running).length > 0 ? running : undefined;
}

/**
 * safety.md 15: a reset empties the directories that the program names. Where k0s runs with others, it would leave the node's data
 * behind, with the cluster's keys, and empty somebody else's directory.
 */
export function refuseOtherDirectories({
    role,
    host,
}: {
    readonly role: Role;
    readonly host: HostFacts;
}): Refusal | undefined {
    const [found] = statedBy(host)
        .map(({ by, directories }) => ({ by, wrong: differences(host.data, role, directories) }))
        .filter(({ wrong }) => wrong.length > 0);
    if (found === undefined) return undefined;
    const words = found.wrong.map(({ name, running, program }) => `${name} is ${running}, the program says ${program}`);
    const right = found.wrong.map(({ name, running }) => `${name}: ${JSON.stringify(running)}`).join(", ");
    return {
        ...refuse(
            "k0s runs with other directories than the program says",
            [`${found.by}: ${words.join("; ")}`],
            "directories",
        ),
        advice: `Set ${right}. A node that is in state already: \`pulumi refresh\` first, then that change is an update.`,
    };
}

/** What lies in directories that a reset empties and was put there by neither k0s nor us, a clause each. */
export function foreignContent({ data }: HostFacts): string[] {
    return [
        ...(data.foreign.length > 0 ? [`${data.dir} holds ${data.foreign.join(", ")}`] : []),
        ...(data.foreignKubelet.length > 0 ? [`kubeletRootDir holds ${data.foreignKubelet.join(", ")}`] : []),
    ];
}

/** For an add, whose removal would empty them some day, as for a removal. */
export function refuseForeignContent(host: HostFacts): Refusal | undefined {
    const found = foreignContent(host);
    if (found.length === 0) return undefined;
    const what = "a directory that a reset empties holds files that neither k0s nor pulumi-mke put there";
    return { ...refuse(what, found, "directories"), advice: "Move them elsewhere, or delete them." };
}

interface Statement {
    readonly by: string;
    readonly directories: Directories;
}

function statedBy(host: HostFacts): Statement[] {
    const { status } = host;
    const unit = unitOf(host);
    return [
        ...(status.state === "answers"
            ? [{ by: "k0s status", directories: plain(status.dataDir, status.kubeletRootDir) }]
            : []),
        ...(unit === undefined ? [] : [{ by: "its service", directories: startedWith(unit) }]),
    ];
}

function startedWith({ args }: UnitFacts): Directories {
    const dataDir = valueOf(args, "--data-dir") ?? DATA_DIR;
    return plain(dataDir, valueOf(args, "--kubelet-root-dir") ?? `${dataDir}/kubelet`);
}

/** In one word with its flag, as `k0s install` writes it, or in the next one. */
function valueOf(args: readonly string[], name: string): string | undefined {
    const at = args.indexOf(name);
    return at < 0 ? valuesOf(args, name).at(-1) : args[at + 1];
}

function plain(dataDir: string, kubeletRootDir: string | undefined): Directories {
    return { dataDir: path(dataDir), kubeletRootDir: kubeletRootDir === undefined ? undefined : path(kubeletRootDir) };
}

function path(text: string): string {
    return posix.normalize(text).replace(/(?<=.)\/$/, "");
}

interface Difference {
    readonly name: keyof Directories;
    readonly running: string;
    readonly program: string;
}

/** A controller that runs no kubelet has no root directory of it either, whatever its k0s says. */
function differences({ dir, kubeletRoot }: DataFacts, role: Role, running: Directories): Difference[] {
    const program: Directories = plain(dir, kubeletRoot ?? `${dir}/kubelet`);
    // One that follows from the data directory is right as soon as that is.
    const follows = kubeletRoot === undefined && running.kubeletRootDir === `${running.dataDir}/kubelet`;
    const names = role === "controller" || follows ? (["dataDir"] as const) : (["dataDir", "kubeletRootDir"] as const);
    return names.flatMap((name) => {
        const [is, wanted] = [running[name], program[name]];
        return is === undefined || wanted === undefined || is === wanted
            ? []
            : [{ name, running: is, program: wanted }];
    });
}
