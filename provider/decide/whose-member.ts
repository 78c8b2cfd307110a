import { addressesOf, sharedAddresses } from "../address";
import type { Member } from "../facts/cluster";
import { isOtherMachine, isOurs } from "./identity";
import { interruptedOperation, isRemoving, wasThereBefore } from "./plan-common";
import type { RemovalSituation } from "./plan-types";

/**
 * True for the member that is the node's: state or a record names its ID, or it never started and came with a join of ours, or
 * its machine or Node is provably ours (safety.md 5, 11). The address alone may be somebody else's by now.
 */
export function isOwnMember(member: Member, situation: RemovalSituation): boolean {
    const record = interruptedOperation(situation);
    if (member.id === situation.state?.memberId || isRemoving(record, member.id)) return true;
    const isJoining = record !== undefined && record.kind !== "remove" && !wasThereBefore(record, member);
    return (isJoining && member.name === "") || isOnOurMachine(member, situation) || hasOurNode(member, situation);
}

function isOnOurMachine({ peerHosts }: Member, { host, state, cluster }: RemovalSituation): boolean {
    if (host === undefined || isOtherMachine(host, state)) return false;
    return sharedAddresses(peerHosts, addressesOf(host)).length > 0 && isOurs(host, state, cluster.helper).ours;
}

/** Counts only where no other ID is known and no other machine answers: a Node outlives its machine. */
function hasOurNode({ peerHosts }: Member, { host, state, cluster }: RemovalSituation): boolean {
    if (state?.memberId !== undefined || (host !== undefined && isOtherMachine(host, state))) return false;
    return cluster.nodes
        .filter(({ addresses }) => sharedAddresses(addresses, peerHosts).length > 0)
        .some(({ machineId }) => machineId !== "" && machineId === state?.machineId);
}
