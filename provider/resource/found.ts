import { Deadline } from "../deadline";
import { memberAt, sharedAddresses } from "../address";
import { memberIdToHex } from "../facts/cluster";
import { readCluster } from "../facts/cluster-view";
import type { HostOperation } from "../stages/operation";
import { probePaths } from "./session";
import type { FoundOutputs, NodeOutputs } from "./state";

/** Outputs of a node that is ready: asked afresh, so that they say what is there and not what was meant. */
export async function foundReady(operation: HostOperation): Promise<FoundOutputs> {
    const { target, inputs, cluster, peerAddress, nodeName, kind } = operation;
    const deadline = Deadline.afterSeconds(inputs.timeouts.connect);
    const [host, facts] = await Promise.all([
        target.probe(probePaths(inputs), deadline),
        readCluster(cluster, {}, deadline),
    ]);
    const member = memberAt(facts.members, peerAddress);
    const node = facts.nodes.find(({ name }) => name === nodeName);
    const [address = peerAddress] = kind === "worker" ? sharedAddresses(node?.addresses ?? [], host.addresses) : [];
    return {
        ...identity(operation),
        peerAddress: address,
        status: "ready",
        state: "ready",
        memberId: kind === "controller" && member !== undefined ? memberIdToHex(member.id) : undefined,
        k0sVersion: host.status.state === "answers" ? host.status.version : host.binary?.version,
        apiServer: kind === "worker" ? host.apiServer : undefined,
    };
}

/** Outputs of a node whose add did not end: enough to find it again, to go on or to take it back. */
export function foundHalfMade(operation: HostOperation): FoundOutputs {
    const { memberId } = operation.progress;
    return {
        ...identity(operation),
        status: "joining",
        state: "joining: the add did not reach its end",
        ...(memberId === undefined ? {} : { memberId: memberIdToHex(memberId) }),
    };
}

function identity(operation: HostOperation): Omit<FoundOutputs, "status" | "state"> {
    const { cluster, nodeName, peerAddress, token, hostFacts, progress } = operation;
    return {
        nodeName,
        drift: [],
        token,
        installedBinary: progress.installedBinary,
        clusterId: cluster.helperFacts.clusterId,
        caFingerprint: cluster.helperFacts.caFingerprint,
        peerAddress,
        machineId: hostFacts.machineId,
    };
}

/** What an earlier run found, without the inputs that are echoed beside it. */
export function foundIn(outs: NodeOutputs): FoundOutputs {
    const { nodeName, status, state, drift, token, installedBinary } = outs;
    const { clusterId, caFingerprint, memberId, peerAddress, k0sVersion, machineId, apiServer, directories } = outs;
    return {
        ...{ nodeName, status, state, drift, token, installedBinary },
        ...{ clusterId, caFingerprint, memberId, peerAddress, k0sVersion, machineId, apiServer, directories },
    };
}
