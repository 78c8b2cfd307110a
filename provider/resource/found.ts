import { setTimeout as sleep } from "node:timers/promises";
import { Deadline } from "../deadline";
import { memberAt, sharedAddresses } from "../address";
import { MkeError, reasonOf } from "../errors";
import { memberIdToHex } from "../facts/cluster";
import { readCluster } from "../facts/cluster-view";
import type { ClusterConnection } from "../facts/helper";
import type { HostOperation } from "../stages/operation";
import { clusterElsewhere, probePaths } from "./session";
import type { FoundOutputs, NodeOutputs } from "./state";

const STAGE = "looking at the finished node";
/** Seconds for one look; a connection that was cut answers nothing at all. */
const LOOK_SECONDS = 10;
const LOOK_AGAIN_EVERY = 1000;

/**
 * Outputs of a node that is ready: asked afresh, so that they say what is there and not what was meant. The operation has
 * reached its end: where nobody can be asked any more, through whatever controller, they say what it knows itself.
 */
export async function foundReady(operation: HostOperation): Promise<FoundOutputs> {
    const { inputs, log } = operation;
    const deadline = Deadline.afterSeconds(inputs.timeouts.connect, "timeouts.connect");
    for (let isOther = false; ; isOther = !isOther) {
        try {
            return await (isOther
                ? lookElsewhere(operation, deadline)
                : lookThrough(operation, operation.cluster, deadline));
        } catch (error) {
            if (!(error instanceof MkeError)) throw error;
            log.line(`${STAGE}: ${reasonOf(error)}`);
            if (deadline.remaining <= LOOK_AGAIN_EVERY) return knownReady(operation);
        }
        await sleep(LOOK_AGAIN_EVERY);
    }
}

async function lookElsewhere(operation: HostOperation, deadline: Deadline): Promise<FoundOutputs> {
    const cluster = await clusterElsewhere(operation.inputs, operation.cluster);
    try {
        return await lookThrough(operation, cluster, deadline);
    } finally {
        cluster.close();
    }
}

async function lookThrough(
    operation: HostOperation,
    cluster: ClusterConnection,
    deadline: Deadline,
): Promise<FoundOutputs> {
    const { target, inputs, peerAddress, nodeName, kind } = operation;
    const limit = deadline.within(LOOK_SECONDS * 1000);
    const [host, facts] = await Promise.all([target.probe(probePaths(inputs), limit), readCluster(cluster, {}, limit)]);
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

function knownReady(operation: HostOperation): FoundOutputs {
    const { kind, progress, peerAddress, clusterFacts, hostFacts, cluster } = operation;
    const memberId = progress.memberId ?? memberAt(clusterFacts.members, peerAddress)?.id;
    operation.log.line(`${STAGE}: it is ready, as far as this operation saw; \`pulumi refresh\` looks again`, "quiet");
    return {
        ...identity(operation),
        status: "ready",
        state: "ready",
        memberId: kind === "controller" && memberId !== undefined ? memberIdToHex(memberId) : undefined,
        k0sVersion: hostFacts.binary?.version ?? cluster.helperFacts.k0sVersion,
        apiServer: kind === "worker" ? hostFacts.apiServer : undefined,
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
