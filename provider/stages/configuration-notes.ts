import { notesForJoiner } from "../adapters/k0s/config";
import { etcdDirectoriesIn } from "../adapters/k0s/host-parts";
import { treeOf } from "../adapters/tree";
import type { Deadline } from "../deadline";
import { peerNetworkNotes } from "../decide/peer-network";
import { RefusedError } from "../errors";
import type { HostOperation } from "./operation";

/** What a joiner has to share with the cluster (service addresses, encryption) is not known without the helper's k0s.yaml. */
export function refuseLostConfiguration({ cluster, target }: HostOperation, stage: string): void {
    const { lostConfig, helper } = cluster;
    if (lostConfig === undefined) return;
    throw new RefusedError({
        stage,
        host: target.address,
        what: `k0s on ${helper.address} was started with ${lostConfig}, and that file is gone: what the new controller has to share with it is not known`,
        advice: "Put the file back there; what is in force is in /run/k0s/k0s.yaml. Nothing was changed.",
        topic: "configuration-files",
    });
}

/**
 * etcd that finds the data of a member goes on as that member instead of joining, and a reset of k0s leaves these directories
 * alone. Those of the cluster count although a joiner keeps its data with k0s: the host was a controller with them.
 */
export async function refuseEtcdLeftovers(operation: HostOperation, stage: string, deadline: Deadline): Promise<void> {
    const { cluster, target, inputs } = operation;
    const directories = [...etcdDirectoriesIn(cluster.config), ...etcdDirectoriesIn(inputs.k0sConfig)];
    const paths = [...new Set(directories)].flatMap((path) => [path, `${path}/member`]);
    if (paths.length === 0) return;
    const held = await Promise.all(directories.map((path) => target.material.list(path, deadline)));
    const found = await target.material.describe(paths, deadline);
    const members = found.filter(({ path, kind }) => path.endsWith("/member") && kind === "directory");
    const left = [...members.map(({ path }) => path), ...directories.filter((_, at) => (held[at] ?? []).length > 0)];
    if (left.length === 0) return;
    throw new RefusedError({
        stage,
        host: target.address,
        what: `the host holds the data of an earlier etcd member: ${[...new Set(left)].join(", ")}`,
        advice: "Move it away if nobody needs it: etcd would go on with it instead of joining. Nothing was changed.",
        topic: "configuration-files",
    });
}

/** A reset of k0s empties its own directories only. */
export function tellEtcdLeftovers({ cluster, log }: Pick<HostOperation, "cluster" | "log">): void {
    const directories = etcdDirectoriesIn(cluster.config);
    if (directories.length === 0) return;
    log.line(
        `what etcd kept in ${directories.join(", ")} stays on the host: remove it before the host joins again`,
        "quiet",
    );
}

/** Says what a person may not expect of the configuration that the joining controller gets. */
export function tellConfiguration(operation: HostOperation): void {
    const { cluster, clusterFacts, hostFacts, peerAddress, log } = operation;
    const { api, storage } = treeOf(treeOf(cluster.config)["spec"]);
    const networks = {
        addresses: hostFacts.addresses,
        chosen: peerAddress,
        peers: clusterFacts.members.flatMap(({ peerHosts }) => peerHosts),
        helper: {
            api: textOf(treeOf(api)["address"]),
            peer: textOf(treeOf(treeOf(storage)["etcd"])["peerAddress"]),
        },
    };
    const notes = [...notesForJoiner(cluster.config, { address: peerAddress }), ...peerNetworkNotes(networks)];
    for (const note of notes) log.line(note, "quiet");
}

/** With `default_pull_policy: Never` k0s starts nothing that is not in the images' directory, and Ready is waited for in vain. */
export async function tellImages({ cluster, target, inputs, log }: HostOperation, deadline: Deadline): Promise<void> {
    const { images } = treeOf(treeOf(cluster.config)["spec"]);
    if (treeOf(images)["default_pull_policy"] !== "Never") return;
    const directory = `${inputs.dataDir}/images`;
    if ((await target.material.list(directory, deadline)).length > 0) return;
    log.line(
        `the cluster pulls no images (default_pull_policy: Never), and ${directory} is empty: put the bundle there`,
        "quiet",
    );
}

function textOf(address: unknown): string | undefined {
    return typeof address === "string" ? address : undefined;
}
