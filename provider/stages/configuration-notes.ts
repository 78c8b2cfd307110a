import { notesForJoiner } from "../adapters/k0s/config";
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
    for (const note of notes) log.line(note);
}

/** With `default_pull_policy: Never` k0s starts nothing that is not in the images' directory, and Ready is waited for in vain. */
export async function tellImages({ cluster, target, inputs, log }: HostOperation, deadline: Deadline): Promise<void> {
    const { images } = treeOf(treeOf(cluster.config)["spec"]);
    if (treeOf(images)["default_pull_policy"] !== "Never") return;
    const directory = `${inputs.dataDir}/images`;
    if ((await target.material.list(directory, deadline)).length > 0) return;
    log.line(
        `the cluster pulls no images (default_pull_policy: Never), and ${directory} is empty: put the bundle there`,
    );
}

function textOf(address: unknown): string | undefined {
    return typeof address === "string" ? address : undefined;
}
