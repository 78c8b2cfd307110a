import {
    CONTAINERD_CONFIG,
    DEFAULT_HOSTS_DIRECTORIES,
    DROP_INS,
    isManagedByK0s,
    registrySettings,
} from "../adapters/k0s/containerd-config";
import type { Deadline } from "../deadline";
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

const STAGE = "copying registry settings";
/** More in a hosts directory than any registry needs: somebody keeps other things there. */
const MOST_FILES = 500;
const CA_MODE = 0o644;

/** Files of the helper that tell its containerd how to reach registries. */
interface RegistryFiles {
    readonly paths: readonly string[];
    readonly hostsDirectories: readonly string[];
    /** Drop-ins that are about something else. */
    readonly others: readonly string[];
}

/**
 * Gives the node what the helper's containerd knows about registries: drop-ins with registry settings, hosts directories and
 * the certificates named in them, and the CA of the `registry` input (spec/002, "Registry CA sync"). What k0s itself writes is
 * not copied, and what the host has already stays as it is.
 */
export async function syncRegistry(operation: HostOperation, deadline: Deadline): Promise<Outcome> {
    const { log, cluster } = operation;
    const found = await registryFiles(operation, deadline);
    const { plan, kept } = await planCopies(operation, found.paths, deadline);
    const copied = await putCopies(operation, plan, deadline);
    if (kept.length > 0) log.line(`  the host has its own ${kept.join(", ")}; left as they are`);
    if (found.others.length > 0) log.line(`  not about registries, not copied: ${found.others.join(", ")}`);
    const own = await putGivenCa(operation, found.hostsDirectories, deadline);
    const said = [
        ...(copied === 0 ? [] : [`${countOf(copied, "file")} copied from ${cluster.helper.address}`]),
        ...(own === undefined ? [] : [own]),
    ];
    return said.length === 0 ? nothingToDo("nothing to copy") : said.join(", ");
}

async function registryFiles(operation: HostOperation, deadline: Deadline): Promise<RegistryFiles> {
    const { helper } = operation.cluster;
    const inDropIns = (await helper.material.list(DROP_INS, deadline)).filter((path) => isDropIn(path));
    const texts = await Promise.all(
        [...inDropIns, CONTAINERD_CONFIG].map(async (path) => ({
            path,
            text: (await helper.readFile(path, deadline))?.toString("utf8") ?? "",
        })),
    );
    const settings = texts
        .filter(({ path, text }) => path !== CONTAINERD_CONFIG || isOwnConfig(operation, text))
        .map(({ path, text }) => ({ path, ...registrySettings(path, text) }));
    const about = settings.filter(({ hasRegistries }) => hasRegistries);
    const named = about.flatMap(({ hostsDirectories }) => hostsDirectories);
    const hostsDirectories = named.length > 0 ? [...new Set(named)] : DEFAULT_HOSTS_DIRECTORIES;
    const hostsFiles = await inHostsDirectories(operation, hostsDirectories, deadline);
    return {
        paths: [...new Set([...about.flatMap(({ path, files }) => [path, ...files]), ...hostsFiles])].sort(),
        hostsDirectories,
        others: settings.filter(({ hasRegistries }) => !hasRegistries).map(({ path }) => path),
    };
}

function isDropIn(path: string): boolean {
    return path.endsWith(".toml") && !path.slice(DROP_INS.length + 1).includes("/");
}

/** Taken over by the administrator. It names the data directory, so it fits only where that is the same. */
function isOwnConfig({ cluster, inputs, log }: HostOperation, text: string): boolean {
    if (text === "" || isManagedByK0s(text)) return false;
    if (cluster.helperFacts.dataDir === inputs.dataDir) return true;
    log.line(`  ${CONTAINERD_CONFIG} of ${cluster.helper.address} is for another data directory, not copied`);
    return false;
}

/** All files of the hosts directories, and certificates elsewhere that a `hosts.toml` among them names. */
async function inHostsDirectories(
    { cluster: { helper }, log }: HostOperation,
    directories: readonly string[],
    deadline: Deadline,
): Promise<string[]> {
    const lists = await Promise.all(directories.map((directory) => helper.material.list(directory, deadline)));
    const files = lists.flatMap((list, index) => {
        if (list.length <= MOST_FILES) return [...list];
        log.line(`  ${directories[index]} of ${helper.address} holds ${list.length} files, not copied`);
        return [];
    });
    const hosts = files.filter((path) => path.endsWith("/hosts.toml"));
    const named = await Promise.all(
        hosts.map(async (path) => {
            const text = await helper.readFile(path, deadline);
            return registrySettings(path, text?.toString("utf8") ?? "").files;
        }),
    );
    return [...files, ...named.flat()];
}

async function planCopies(
    operation: HostOperation,
    paths: readonly string[],
    deadline: Deadline,
): Promise<{ readonly plan: CopyPlan; readonly kept: readonly string[] }> {
    const seen = await lookAtBoth(operation, paths, deadline);
    const files: PlannedFile[] = [];
    const kept: string[] = [];
    for (const path of paths) {
        const sides = seen.get(path);
        if (sides?.helper.kind !== "file") continue;
        if (sides.target.kind === "absent" || (isOurs(operation, path) && differ(sides))) {
            files.push({ ...sides.helper, content: await readOnHelper(operation, STAGE, path, deadline) });
        } else if (differ(sides)) {
            kept.push(path);
        }
    }
    const needed = files.map(({ path }) => path);
    return { plan: { files, orphans: [], directories: missingDirectories(operation, needed, seen) }, kept };
}

function differ({ helper, target }: BothSides): boolean {
    return helper.sha256 !== target.sha256;
}

/** `registry.caCertificate`, for the registry that `k0s.ociArtifact` names; without one it is not known which registry is meant. */
async function putGivenCa(
    operation: HostOperation,
    [directory = DEFAULT_HOSTS_DIRECTORIES[0]]: readonly string[],
    deadline: Deadline,
): Promise<string | undefined> {
    const { inputs, target } = operation;
    const registry = inputs.k0s.ociArtifact?.split("/")[0];
    if (inputs.registry.caCertificate === undefined || registry === undefined) return undefined;
    const path = `${directory}/${registry}/ca.crt`;
    if ((await target.exists(path, deadline)) && !isOurs(operation, path)) return `${path} is there already`;
    const seen = await lookAtBoth(operation, [path], deadline);
    const directories = [...seen.values()]
        .filter(({ target: { kind }, target: { path: at } }) => kind === "absent" && at !== path)
        .map(({ target: { path: at } }) => ({ path: at, mode: 0o755, user: "root", group: "root" }));
    const owner = { mode: CA_MODE, user: "root", group: "root" };
    const files = [{ path, ...owner, content: Buffer.from(inputs.registry.caCertificate) }];
    await putCopies(operation, { files, directories, orphans: [] }, deadline);
    return `${path} written`;
}
