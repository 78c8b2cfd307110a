import type { FileFacts, OwnedPath } from "../adapters/host/material";
import { configForJoiner } from "../adapters/k0s/config";
import { type FileReference, filesNamedIn, isMadeByK0s, referencesIn } from "../adapters/k0s/references";
import { parseK0sYaml } from "../adapters/k0s/yaml";
import type { Topic } from "../decide/refusal";
import { unchanged } from "../decide/refusal";
import type { Deadline } from "../deadline";
import { RefusedError } from "../errors";
import { refuseEtcdLeftovers, refuseLostConfiguration, tellConfiguration } from "./configuration-notes";
import type { HostOperation } from "./operation";
import { nothingToDo, type Outcome } from "./stage";
import {
    type BothSides,
    type CopyPlan,
    countOf,
    isOurs,
    lookAtBoth,
    missingDirectories,
    type PlannedFile,
    putCopies,
    readOnHelper,
} from "./copy-files";

const STAGE = "checking configuration files";
/** An owner without a name. */
const IS_NUMBER = /^\d+$/;
const TOPIC: Topic = "configuration-files";

/** Users that `k0s install controller` makes, each with a group of its name (k0s 1.36.3, its source). */
const K0S_USERS = ["etcd", "kube-apiserver", "konnectivity-server", "kube-scheduler", "keepalived"];

/** What became of one path that the configuration names. */
interface Findings {
    readonly copy: PlannedFile[];
    /** Directories that are to exist, or whose own directories are. */
    readonly directories: OwnedPath[];
    readonly orphans: OwnedPath[];
    readonly needed: string[];
    readonly missing: FileReference[];
    readonly different: FileReference[];
}

/** One look at the files of a configuration, and what has come of it so far. */
interface Survey {
    readonly operation: HostOperation;
    /** Named by the program for this node alone, so that a file it finds there is meant. */
    readonly chosenHere: ReadonlySet<string>;
    readonly found: Findings;
    readonly deadline: Deadline;
}

/**
 * Finds the files that the joining controller's configuration refers to, and those that these refer to, on the helper and on
 * the target (spec/002, "Control plane configuration sync"; safety.md 17). Changes nothing. Fails where a file is on neither
 * side, where the target has another one of that name that is not ours, and where an owner will not exist there.
 */
export async function planConfiguration(operation: HostOperation, deadline: Deadline): Promise<CopyPlan> {
    refuseLostConfiguration(operation, STAGE);
    await refuseEtcdLeftovers(operation, STAGE, deadline);
    const { references, chosenHere } = referencesOf(operation);
    const found: Findings = { copy: [], directories: [], orphans: [], needed: [], missing: [], different: [] };
    const survey = { operation, chosenHere, found, deadline };
    const seen = new Map<string, BothSides>();
    let next = references;
    while (next.length > 0) {
        const looked = await lookAtBoth(
            operation,
            next.map(({ path }) => path),
            deadline,
        );
        looked.forEach((sides, path) => seen.set(path, sides));
        const inner: FileReference[] = [];
        for (const reference of next) {
            const content = await judge(survey, reference, looked);
            if (content !== undefined) inner.push(...filesNamedIn(reference.path, content.toString("utf8")));
        }
        next = inner.filter(
            ({ path }, index) =>
                !seen.has(path) &&
                !isMadeByK0s(path, operation.inputs.dataDir) &&
                inner.findIndex((other) => other.path === path) === index,
        );
    }
    refuseUnusable(operation, found);
    const plan = {
        files: found.copy,
        orphans: found.orphans,
        directories: withoutDoubles([...missingDirectories(operation, found.needed, seen), ...found.directories]),
    };
    await refuseUnknownOwners(operation, plan, deadline);
    tellConfiguration(operation);
    return plan;
}

export async function syncConfiguration(
    operation: HostOperation,
    plan: CopyPlan,
    deadline: Deadline,
): Promise<Outcome> {
    const copied = await putCopies(operation, plan, deadline);
    if (copied === 0) return nothingToDo("nothing to copy");
    return `${countOf(copied, "file")} copied from ${operation.cluster.helper.address}`;
}

/** Once k0s has made its users, so that its API server can read what it read on the helper. */
export async function giveOwners(operation: HostOperation, plan: CopyPlan, deadline: Deadline): Promise<void> {
    await operation.target.material.own([...plan.directories, ...plan.files, ...plan.orphans], deadline);
}

function referencesOf({
    cluster,
    inputs,
    peerAddress,
}: HostOperation): Pick<Survey, "chosenHere"> & { readonly references: readonly FileReference[] } {
    const config = parseK0sYaml(configForJoiner(cluster.config, { address: peerAddress }, inputs.k0sConfig));
    return {
        references: referencesIn(config).filter(({ path }) => !isMadeByK0s(path, inputs.dataDir)),
        chosenHere: new Set(referencesIn(inputs.k0sConfig).map(({ path }) => path)),
    };
}

/** Notes what is to be done about one path. Answers the content that the node will have there, to look for further files. */
async function judge(
    survey: Survey,
    reference: FileReference,
    seen: ReadonlyMap<string, BothSides>,
): Promise<Buffer | undefined> {
    const { operation, chosenHere, found, deadline } = survey;
    const { path, use } = reference;
    // It lies in the helper's data directory, and this node's is another one.
    if (isMadeByK0s(path, operation.cluster.helperFacts.dataDir)) {
        found.missing.push(reference);
        return undefined;
    }
    const sides = seen.get(path);
    if (sides === undefined) return undefined;
    if (use === "output") {
        judgeOutput(path, seen, found);
        return undefined;
    }
    const { helper, target } = sides;
    if (target.kind === "directory" || target.kind === "other") {
        if (helper.kind === "file" && !chosenHere.has(path)) found.different.push(reference);
        return undefined;
    }
    if (keepsItsOwn(survey, path, sides)) return operation.target.readFile(path, deadline);
    if (helper.kind === "file") return judgeFile(survey, reference, sides);
    judgeNoFile(reference, helper, seen, found);
    return undefined;
}

/** The target's file counts where the helper has none to compare it with, and where the program means it. */
function keepsItsOwn({ operation, chosenHere }: Survey, path: string, { helper, target }: BothSides): boolean {
    if (target.kind !== "file") return false;
    return helper.kind !== "file" || (chosenHere.has(path) && !isOurs(operation, path));
}

async function judgeFile(
    { operation, found, deadline }: Survey,
    reference: FileReference,
    { helper, target }: BothSides,
): Promise<Buffer | undefined> {
    const { path } = reference;
    const content = await readOnHelper(operation, STAGE, path, deadline);
    const { mode, user, group } = helper;
    const isThere = target.kind === "file" && target.sha256 === helper.sha256;
    const isPutByUs = isOurs(operation, path);
    if (target.kind === "file" && !isThere && !isPutByUs) found.different.push(reference);
    else if (!isThere || isPutByUs) {
        found.needed.push(path);
        found.copy.push({ path, mode, user, group, content: isThere ? undefined : content });
    }
    return content;
}

/** Neither side has a file there. */
function judgeNoFile(
    reference: FileReference,
    helper: FileFacts,
    seen: ReadonlyMap<string, BothSides>,
    found: Findings,
): void {
    const { path, use } = reference;
    // A socket or a device: what makes it is not a matter of configuration.
    if (helper.kind === "other") return;
    if (helper.kind === "directory") found.directories.push(helper);
    const isNeeded = helper.kind === "directory" || (use === "unknown" && hasDirectory(path, seen));
    if (isNeeded) found.needed.push(path);
    // What only looks like a path need not be one: the helper does without.
    else if (use === "input") found.missing.push(reference);
}

/**
 * Its directory is to exist. Logs stay when a node is removed, while k0s's users go, and their numbers may be others the next
 * time: an API server that cannot go on with its audit log does not start.
 */
function judgeOutput(path: string, seen: ReadonlyMap<string, BothSides>, found: Findings): void {
    found.needed.push(path);
    for (const at of [directoryOf(path), path]) {
        const { helper, target } = seen.get(at) ?? {};
        if (helper === undefined || target === undefined || helper.kind === "absent") continue;
        const isOrphan = target.kind !== "absent" && IS_NUMBER.test(target.user) && !IS_NUMBER.test(helper.user);
        if (isOrphan) found.orphans.push({ ...helper, mode: target.mode });
    }
}

/** The argument's name does not tell, a directory of its own is there and the file is not: the program will make it. */
function hasDirectory(path: string, seen: ReadonlyMap<string, BothSides>): boolean {
    return seen.get(directoryOf(path))?.helper.kind === "directory";
}

function directoryOf(path: string): string {
    return path.slice(0, path.lastIndexOf("/"));
}

function refuseUnusable({ target, cluster, begunBefore }: HostOperation, { missing, different }: Findings): void {
    const named = (references: readonly FileReference[]): string =>
        references.map(({ path, from }) => `${path} (${from})`).join(", ");
    if (missing.length > 0) {
        throw new RefusedError({
            stage: STAGE,
            host: target.address,
            what: `the configuration refers to files that exist neither on this host nor on ${cluster.helper.address}: ${named(missing)}`,
            advice: `Put them on this host or take the reference out of the configuration. ${unchanged(begunBefore)}`,
            topic: TOPIC,
        });
    }
    if (different.length > 0) {
        throw new RefusedError({
            stage: STAGE,
            host: target.address,
            what: `files on the host differ from those on ${cluster.helper.address}, and pulumi-mke did not put them there: ${named(different)}`,
            advice: `Remove them, make them alike, or name other paths in \`k0sConfig\`. ${unchanged(begunBefore)}`,
            topic: TOPIC,
        });
    }
}

/** The same number is another user on another machine, so that a secret would be his. */
async function refuseUnknownOwners(
    { target, cluster, begunBefore }: HostOperation,
    { files, directories, orphans }: CopyPlan,
    deadline: Deadline,
): Promise<void> {
    const all = [...files, ...directories, ...orphans];
    if (all.length === 0) return;
    const comeWithK0s = new Set([...K0S_USERS, ...configuredUsers(cluster.config)]);
    const names = (owner: "user" | "group"): string[] => [
        ...new Set(all.map((path) => path[owner]).filter((name) => !comeWithK0s.has(name))),
    ];
    const unknown = await target.material.unknownNames({ users: names("user"), groups: names("group") }, deadline);
    const lacking = [...unknown.users.map((name) => `user ${name}`), ...unknown.groups.map((name) => `group ${name}`)];
    if (lacking.length === 0) return;
    const owned = all.filter(({ user, group }) => unknown.users.includes(user) || unknown.groups.includes(group));
    throw new RefusedError({
        stage: STAGE,
        host: target.address,
        what: `the host has no ${lacking.join(", no ")}, which must own ${owned.map(({ path }) => path).join(", ")}`,
        advice: `Create them on this host, then run again. ${unchanged(begunBefore)}`,
        topic: TOPIC,
    });
}

/** `spec.installConfig.users` of k0s.yaml. */
function configuredUsers(config: unknown): string[] {
    const { spec } = (config ?? {}) as { spec?: { installConfig?: { users?: Readonly<Record<string, unknown>> } } };
    return Object.values(spec?.installConfig?.users ?? {}).filter((name) => typeof name === "string");
}

function withoutDoubles(directories: readonly OwnedPath[]): OwnedPath[] {
    const first = new Map<string, OwnedPath>();
    for (const directory of directories) if (!first.has(directory.path)) first.set(directory.path, directory);
    return [...first.values()].sort((a, b) => a.path.split("/").length - b.path.split("/").length);
}
